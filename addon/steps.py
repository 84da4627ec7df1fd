# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in Blender's main thread in steps: between them a window lives on, and Esc is heard.

A function of steps is a generator that yields the fraction done and returns its
result. Closing it puts back whatever it changed for the time of its work.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import TypeVar

T = TypeVar("T")

Steps = Generator[float, None, T]


def finish(steps: Steps[T]) -> T:
    """Take all steps at once.

    Args:
        steps: the work.

    Returns:
        Its result.
    """
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def part(steps: Steps[T], number: int, count: int) -> Steps[T]:
    """Steps that are one of several parts of a work.

    Args:
        steps: the part.
        number: how many parts come before it.
        count: how many there are.
    """
    with closing(steps):  # whoever closes this one waits until they have put back what they changed
        while True:
            try:
                fraction = next(steps)
            except StopIteration as done:
                return done.value
            yield (number + fraction) / count
