# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions a solver may raise.

Bad arguments are `ValueError` subclasses that carry the offending value in
their message. Anything the physics decides (falls, limits that clip, states
that cannot be reached) is *data* in the result, never an exception.
"""

from __future__ import annotations


class SettingError(ValueError):
    """A setting lies outside what the equations can take.

    Args:
        name: the setting, as the animator reads it ("Speed").
        value: the value that was given.
        requirement: what it has to be, completing "must be ..."
            ("above 0 m/s").
    """

    def __init__(self, name: str, value: object, requirement: str) -> None:
        super().__init__(f"{name} is {value}: it must be {requirement}")
        self.name = name
        self.value = value
        self.requirement = requirement


def check_number(label: str, value: object, least: float, most: float, requirement: str) -> None:
    """Check one number.

    Args:
        label: what it is called.
        value: what was given.
        least: smallest that is good.
        most: largest that is good.
        requirement: what it has to be, completing "must be ...".

    Raises:
        SettingError: it is no number, or not within them.
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise SettingError(label, value, requirement) from None
    if not least <= number <= most:
        raise SettingError(label, value, requirement)


class Cancelled(Exception):
    """Raised by a progress callback to stop a solve; nothing was written."""
