# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator changed about footprints: data that is stored, and its checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from .gait import spoken_leg

VERSION = 1


@dataclass(frozen=True)
class FootprintBefore:
    """A footprint as it is without edits: what an edit was made of.

    Attributes:
        position: (3,) m.
        yaw: of the flat foot, rad.
        on: touchdown, s; may be minus infinity.
        off: liftoff, s; may be infinite.
    """

    position: np.ndarray
    yaw: float
    on: float
    off: float


@dataclass(frozen=True)
class FootprintEdit:
    """What an animator changed about a footprint.

    Attributes:
        leg: name of the leg.
        index: number of its step.
        position: (3,) m, or None to leave it where it is.
        yaw: of the flat foot, rad, 0 facing -Y; or None.
        normal: (3,) unit vector that the flat sole's upper side faces; None for
            that of the ground.
        on: touchdown, s; or None.
        off: liftoff, s; or None.
        was: the footprint that was edited. Where it is another one now, because
            speed, gaits or the path have changed since, the edit goes with
            it: its pose and times are moved as the footprint was. None to take
            them as they stand.
    """

    leg: str
    index: int
    position: np.ndarray | None = None
    yaw: float | None = None
    normal: np.ndarray | None = None
    on: float | None = None
    off: float | None = None
    was: FootprintBefore | None = None


@dataclass(frozen=True)
class Locks:
    """What stays as it is when footprints are edited.

    Attributes:
        body: the body's whole motion.
        timing: all touchdowns and liftoffs.
        legs: the feet of legs of which no footprint is edited.
    """

    body: bool = False
    timing: bool = False
    legs: bool = False


@dataclass(frozen=True)
class Pin:
    """The body at an end of a part of the motion that is solved again.

    Attributes:
        time: s.
        position: (3,) of the body's centre, m.
        yaw: rad.
        velocity: (3,) m/s.
    """

    time: float
    position: np.ndarray
    yaw: float
    velocity: np.ndarray


def check_edits(edits: Sequence[FootprintEdit]) -> None:
    """Check what an animator may have typed, or a file may hold.

    Args:
        edits: the edits.

    Raises:
        SettingError: a value is no finite number; the message names leg and step.
    """
    for edit in edits:
        of = f" of step {edit.index} of the {spoken_leg(edit.leg)}"
        for label, point in (("Position", edit.position), ("Normal", edit.normal)):
            if point is not None:
                _check(label + of, point, (3,), "three finite coordinates")
        if edit.normal is not None and not float(np.asarray(edit.normal)[2]) > 1e-3:
            raise SettingError("Normal" + of, edit.normal, "a direction that points up")
        for label, number in (("Yaw", edit.yaw), ("Touchdown", edit.on), ("Liftoff", edit.off)):
            if number is not None:
                _check(label + of, number, (), "a finite number")
        if edit.on is not None and edit.off is not None and not edit.on < edit.off:
            raise SettingError("Touchdown" + of, f"{edit.on:.3f} s", f"before {edit.off:.3f} s")


def _check(label: str, value: object, shape: tuple[int, ...], requirement: str) -> None:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise SettingError(label, value, requirement) from None
    if array.shape != shape or not np.all(np.abs(array) < 1e9):
        raise SettingError(label, value, requirement)


def edits_as_data(
    edits: Sequence[FootprintEdit], locks: Locks | None = None, pins: Sequence[Pin] = ()
) -> dict:
    """Edits as what JSON can hold, all digits kept.

    Args:
        edits: the edits.
        locks: what they leave alone; None for nothing.
        pins: states of the body.

    Returns:
        Lists, dictionaries, numbers and names; infinite times as None.
    """
    locks = locks or Locks()
    return {
        "version": VERSION,
        "edits": [
            {
                "leg": edit.leg, "index": int(edit.index), "position": _numbers(edit.position),
                "yaw": _number(edit.yaw), "normal": _numbers(edit.normal),
                "on": _number(edit.on), "off": _number(edit.off),
                "was": None if edit.was is None else {
                    "position": _numbers(edit.was.position), "yaw": float(edit.was.yaw),
                    "on": _number(edit.was.on), "off": _number(edit.was.off),
                },
            }
            for edit in edits
        ],
        "locks": {"body": locks.body, "timing": locks.timing, "legs": locks.legs},
        "pins": [
            {"time": pin.time, "position": _numbers(pin.position), "yaw": pin.yaw,
             "velocity": _numbers(pin.velocity)}
            for pin in pins
        ],
    }


def edits_from_data(data: dict) -> tuple[tuple[FootprintEdit, ...], Locks, tuple[Pin, ...]]:
    """The opposite of `edits_as_data`.

    Args:
        data: what it returned.

    Returns:
        Edits, locks and pins.

    Raises:
        SettingError: it is not such data, or of a later version.
    """
    try:
        version = int(data["version"])
        if version > VERSION:
            raise SettingError("Version of edited footprints", version, f"at most {VERSION}")
        edits = tuple(
            FootprintEdit(
                str(item["leg"]), int(item["index"]), _array(item["position"]), item["yaw"],
                _array(item["normal"]), item["on"], item["off"], _before(item["was"]),
            )
            for item in data["edits"]
        )
        locks = Locks(**{name: bool(value) for name, value in data["locks"].items()})
        pins = tuple(
            Pin(float(item["time"]), np.array(item["position"], dtype=float), float(item["yaw"]),
                np.array(item["velocity"], dtype=float))
            for item in data["pins"]
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError("Edited footprints", "no such data", "as `edits_as_data` made them") \
            from error
    check_edits(edits)
    return edits, locks, pins


def _number(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else float(value)


def _numbers(values: np.ndarray | None) -> list[float] | None:
    return None if values is None else [float(x) for x in values]


def _array(values: list[float] | None) -> np.ndarray | None:
    return None if values is None else np.array(values, dtype=float)


def _before(item: dict | None) -> FootprintBefore | None:
    if item is None:
        return None
    on, off = item["on"], item["off"]
    return FootprintBefore(
        np.array(item["position"], dtype=float), float(item["yaw"]),
        -math.inf if on is None else float(on), math.inf if off is None else float(off),
    )
