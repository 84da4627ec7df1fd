# SPDX-License-Identifier: GPL-3.0-or-later
"""What was solved last: preview, bake and camera share it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from ..digests import digest

_Found = TypeVar("_Found")

MOST = 12


class Remembered(Generic[_Found]):
    """Results by what they follow from alone, so that what is remembered is never out of date.

    Args:
        most: how many are remembered.
    """

    def __init__(self, most: int = MOST) -> None:
        self._known: OrderedDict[str, _Found] = OrderedDict()
        self._lock = threading.Lock()
        self._most = most

    def found(self, known: object, find: Callable[[], _Found]) -> _Found:
        """What was found, or is found now.

        Args:
            known: all that it follows from: numbers, texts, arrays, dataclasses of them.
            find: finds it.
        """
        key = digest(known)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = find()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made

    def knows(self, known: object) -> bool:
        """Whether it need not be found anew.

        Args:
            known: as for `found`.
        """
        with self._lock:
            return digest(known) in self._known
