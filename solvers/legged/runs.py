# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of footprints that are moved, turned, bent, scaled, retimed, copied and pasted.

A run is any choice of footprints; its first is the one that touches down first.
Each function returns the footprints as they are then; `edits_between` makes
edits of them, for `GaitSettings.edits`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import SettingError
from ..motion import Placement
from ..rotations import about_z, between, multiply, rotate
from .edits import FootprintBefore, FootprintEdit
from .gait import other_side, spoken_leg
from .motion import Footprint
from .path import Path

SAME = 1e-9  # m, rad or s
UP = np.array([0.0, 0.0, 1.0])


def first_of(run: Sequence[Footprint]) -> Footprint:
    """The footprint of a run that touches down first.

    Args:
        run: the footprints.

    Returns:
        One of them.

    Raises:
        SettingError: there is none.
    """
    if not run:
        raise SettingError("Run of footprints", "empty", "at least one footprint")
    return min(run, key=_when)


def move(run: Sequence[Footprint], offset: np.ndarray) -> tuple[Footprint, ...]:
    """Move a run as a whole.

    Args:
        run: the footprints.
        offset: (3,) m.

    Returns:
        Them, moved.
    """
    offset = np.asarray(offset, dtype=float)
    return tuple(replace(mark, position=mark.position + offset) for mark in run)


def turn(
    run: Sequence[Footprint], angle: float, about: np.ndarray | None = None
) -> tuple[Footprint, ...]:
    """Turn a run about the vertical.

    Args:
        run: the footprints.
        angle: anticlockwise, rad.
        about: (2,) or (3,) m; None for its first footprint.

    Returns:
        Them, turned.
    """
    pivot = first_of(run).position if about is None else np.append(np.asarray(about)[:2], 0.0)
    pivot = np.append(pivot[:2], 0.0)
    spin = about_z(np.array(angle))
    return tuple(
        _turned(replace(mark, position=pivot + rotate(spin, mark.position - pivot)), angle)
        for mark in run
    )


def scale(
    run: Sequence[Footprint], factor: float, across: float | None = None
) -> tuple[Footprint, ...]:
    """Scale a run about its first footprint.

    Args:
        run: the footprints.
        factor: along the way that the first footprint points.
        across: across it; None for 1: the track keeps its width.

    Returns:
        Them, at other distances. Heights stay.
    """
    first = first_of(run)
    along, left = _ways(first.yaw)
    across = 1.0 if across is None else float(across)
    moved = []
    for mark in run:
        arm = (mark.position - first.position)[:2]
        plan = first.position[:2] + factor * (arm @ along) * along + across * (arm @ left) * left
        moved.append(replace(mark, position=np.append(plan, mark.position[2])))
    return tuple(moved)


def bend(run: Sequence[Footprint], angle: float) -> tuple[Footprint, ...]:
    """Bend a run into an arc, from the straight line ahead of its first footprint.

    Lengths along the line stay.

    Args:
        run: the footprints.
        angle: by which the last footprint is turned, anticlockwise, rad.

    Returns:
        Them, along the arc.
    """
    first = first_of(run)
    along, left = _ways(first.yaw)
    length = max(float((mark.position - first.position)[:2] @ along) for mark in run)
    if length <= SAME:
        return tuple(run)
    moved = []
    for mark in run:
        arm = (mark.position - first.position)[:2]
        way = float(arm @ along)
        turned = angle * min(max(way, 0.0), length) / length
        half = 0.5 * turned
        inner = way if way < 0.0 else way * float(np.sinc(half / math.pi))
        ahead, side = _ways(first.yaw + half)
        plan = first.position[:2] + inner * (along if way < 0.0 else ahead)
        _, side = _ways(first.yaw + turned)
        plan = plan + (arm @ left) * side
        moved.append(_turned(replace(mark, position=np.append(plan, mark.position[2])), turned))
    return tuple(moved)


def bend_along(run: Sequence[Footprint], curve: np.ndarray) -> tuple[Footprint, ...]:
    """Lay a run along a curve, from the straight line ahead of its first footprint.

    Args:
        run: the footprints.
        curve: (k, 2) or (k, 3) points, m; its start is where the line starts,
            between the feet.

    Returns:
        Them, along the curve by arc length, straight on beyond its end.

    Raises:
        SettingError: the curve has no two different points.
    """
    first = first_of(run)
    along, left = _ways(first.yaw)
    path = Path(np.asarray(curve, dtype=float), False, Placement())
    arms = np.array([(mark.position - first.position)[:2] for mark in run])
    middle = 0.5 * ((arms @ left).max() + (arms @ left).min())
    places, tangents = path.at(arms @ along)
    moved = []
    for mark, arm, place, tangent in zip(run, arms, places, tangents, strict=True):
        yaw = math.atan2(tangent[0], -tangent[1])
        side = _ways(yaw)[1]
        plan = place + (arm @ left - middle) * side
        turned = _near(yaw - first.yaw, 0.0)
        moved.append(_turned(replace(mark, position=np.append(plan, mark.position[2])), turned))
    return tuple(moved)


def retime(
    run: Sequence[Footprint], shift: float = 0.0, factor: float = 1.0
) -> tuple[Footprint, ...]:
    """Shift the times of a run, or stretch them about its first touchdown.

    Args:
        run: the footprints.
        shift: later, s.
        factor: of the times since the first touchdown, above 0.

    Returns:
        Them, at other times.

    Raises:
        SettingError: the factor is not above 0.
    """
    if not factor > 0.0:
        raise SettingError("Factor of times", factor, "above 0")
    begin = _when(first_of(run))

    def new(time: float) -> float:
        return begin + factor * (time - begin) + shift if math.isfinite(time) else time

    return tuple(replace(mark, on=new(mark.on), off=new(mark.off)) for mark in run)


def mirror(run: Sequence[Footprint], base: Sequence[Footprint]) -> tuple[Footprint, ...]:
    """Exchange left and right in what was changed about a run.

    What was changed about a step is seen along the way that the step pointed
    before, mirrored, and given to the step of the same number of the leg on the
    other side; that of legs without a side stays with them.

    Args:
        run: the footprints as they are.
        base: all footprints of the motion as they were before any edit.

    Returns:
        The run and the steps on the other side of it. Steps whose other side is
        not in the run, or that have none, are as they were before any edit.
    """
    known = {(mark.leg, mark.index): mark for mark in base}
    now = {(mark.leg, mark.index): mark for mark in run if (mark.leg, mark.index) in known}
    wanted = {**now, **{(other_side(leg), index): mark for (leg, index), mark in now.items()}}
    made = []
    for leg, index in wanted:
        new = known.get((leg, index))
        if new is None:
            continue
        there = (other_side(leg), index)
        if there in now:
            old, mark = known[there], now[there]
            across = rotate(about_z(np.array(-old.yaw)), mark.position - old.position)
            offset = rotate(about_z(np.array(new.yaw)), across * (-1.0, 1.0, 1.0))
            turn = -_near(mark.yaw - old.yaw, 0.0)
            up = rotate(about_z(np.array(-mark.yaw)), rotate(mark.orientation, UP))
            yaw = new.yaw + turn
            up = rotate(about_z(np.array(yaw)), up * (-1.0, 1.0, 1.0))
            if _same_slope(mark, old):
                up = rotate(new.orientation, UP)
            new = replace(
                new, position=new.position + offset, yaw=yaw,
                orientation=multiply(between(UP, up), about_z(np.array(yaw))),
                on=new.on + _later(old.on, mark.on), off=new.off + _later(old.off, mark.off),
            )
        made.append(new)
    return tuple(made)


def _same_slope(mark: Footprint, old: Footprint) -> bool:
    apart = rotate(mark.orientation, UP) - rotate(old.orientation, UP)
    return bool(np.abs(apart).max() <= SAME)


def _later(before: float, after: float) -> float:
    return after - before if math.isfinite(before) and math.isfinite(after) else 0.0


@dataclass(frozen=True)
class CopiedRun:
    """A run as it is seen from its first footprint.

    Attributes:
        legs: legs of its footprints, in order of touchdown.
        position: (m, 3) ahead of the first, to its left and above, m.
        turn: (m,) yaw over that of the first, rad.
        normal: (m, 3) of the soles, likewise.
        on: (m,) touchdowns after the first, s.
        off: (m,) liftoffs after the first touchdown, s; infinite if it stands.
    """

    legs: tuple[str, ...]
    position: np.ndarray
    turn: np.ndarray
    normal: np.ndarray
    on: np.ndarray
    off: np.ndarray


def copy_run(run: Sequence[Footprint]) -> CopiedRun:
    """Copy a run.

    Args:
        run: the footprints.

    Returns:
        Poses and times, relative to its first footprint.
    """
    first = first_of(run)
    marks = sorted(run, key=lambda mark: (_when(mark), mark.leg))
    marks.remove(first)
    marks.insert(0, first)
    back = about_z(np.array(-first.yaw))
    arms = np.array([rotate(back, mark.position - first.position) for mark in marks])
    begin = _when(first)
    return CopiedRun(
        tuple(mark.leg for mark in marks),
        np.stack((-arms[:, 1], arms[:, 0], arms[:, 2]), axis=1),
        np.array([mark.yaw - first.yaw for mark in marks]),
        np.array([rotate(back, rotate(mark.orientation, UP)) for mark in marks]),
        np.array([_when(mark) - begin for mark in marks]),
        np.array([mark.off - begin for mark in marks]),
    )


def run_as_data(copied: CopiedRun) -> dict:
    """A copied run as what JSON can hold.

    Args:
        copied: the run.

    Returns:
        Lists and names; infinite times as None.
    """
    return {
        "legs": list(copied.legs),
        "position": copied.position.tolist(),
        "turn": copied.turn.tolist(),
        "normal": copied.normal.tolist(),
        "on": copied.on.tolist(),
        "off": [float(time) if math.isfinite(time) else None for time in copied.off],
    }


def run_from_data(data: dict) -> CopiedRun:
    """The opposite of `run_as_data`.

    Args:
        data: what it returned.

    Returns:
        The run.

    Raises:
        SettingError: it is no such data.
    """
    try:
        legs = tuple(str(leg) for leg in data["legs"])
        m = len(legs)
        off = [math.inf if time is None else float(time) for time in data["off"]]
        parts = [np.array(data[name], dtype=float) for name in ("position", "turn", "normal", "on")]
        position, turn, normal, on = parts
        good = position.shape == normal.shape == (m, 3) and turn.shape == on.shape == (m,)
        if not good or not m or len(off) != m:
            raise ValueError("lengths differ")
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError("Copied footprints", "no such data", "a run of footprints") from error
    return CopiedRun(legs, position, turn, normal, on, np.array(off))


def paste_run(
    copied: CopiedRun,
    footprints: Sequence[Footprint],
    start: Footprint,
    times: bool = True,
    mirrored: bool = False,
) -> tuple[Footprint, ...]:
    """Paste a run over footprints of a motion, from one of them on.

    The first footprint of the run takes the place of `start`, which stays
    where and when it is; the others take those of the next footprints of
    their legs.

    Args:
        copied: the run.
        footprints: all footprints of the motion.
        start: from which on.
        times: whether times are pasted too.
        mirrored: whether left and right are exchanged: for a `start` on the other
            side than the run's first footprint.

    Returns:
        Those footprints, with the poses and times of the run; footprints of the
        run for which the motion is too short are left out. One that stood for
        good is on the ground for as long as the one whose place it takes.

    Raises:
        SettingError: `start` is of another leg than the run's first footprint.
    """
    legs = [other_side(leg) if mirrored else leg for leg in copied.legs]
    if legs[0] != start.leg:
        raise SettingError(
            "First selected footprint", f"of the {spoken_leg(start.leg)}",
            f"of the {spoken_leg(legs[0])}, as the first copied one is"
            + (" when mirrored" if mirrored else ""),
        )
    begin = _when(start)
    spin = about_z(np.array(start.yaw))
    left = -1.0 if mirrored else 1.0
    chains = {
        leg: sorted((m for m in footprints if m.leg == leg and _when(m) >= begin - SAME),
                    key=lambda m: m.index)
        for leg in set(legs)
    }
    taken = dict.fromkeys(chains, 0)
    pasted = []
    for k, leg in enumerate(legs):
        if taken[leg] >= len(chains[leg]):
            continue
        mark = chains[leg][taken[leg]]
        taken[leg] += 1
        ahead, aside, above = copied.position[k] * (1.0, left, 1.0)
        place = start.position + rotate(spin, np.array([aside, -ahead, above]))
        up = rotate(spin, copied.normal[k] * (left, 1.0, 1.0))
        yaw = start.yaw + left * float(copied.turn[k])
        on, off = mark.on, mark.off
        if times:
            on = begin + float(copied.on[k]) if math.isfinite(on) else on
            later = copied.off[k] if math.isfinite(copied.off[k]) else (
                copied.on[k] + mark.off - mark.on
            )
            off = begin + float(later) if math.isfinite(off) else off
        turned = multiply(between(UP, up), about_z(np.array(yaw)))
        pasted.append(replace(mark, position=place, yaw=yaw, orientation=turned, on=on, off=off))
    return tuple(pasted)


def edits_between(
    before: Sequence[Footprint], after: Sequence[Footprint], tolerance: float = SAME
) -> tuple[FootprintEdit, ...]:
    """What was changed about footprints.

    Args:
        before: the footprints of the motion without edits.
        after: footprints with the same legs and numbers as some of them.
        tolerance: what differs by no more is the same, m, rad and s.

    Returns:
        One edit for each that differs, in order.
    """
    known = {(mark.leg, mark.index): mark for mark in before}
    edits = []
    for mark in after:
        old = known.get((mark.leg, mark.index))
        if old is None:
            edits.append(FootprintEdit(mark.leg, mark.index, mark.position, mark.yaw))
            continue
        normal, was = (rotate(item.orientation, UP) for item in (mark, old))
        moved = float(np.abs(mark.position - old.position).max()) > tolerance
        turned = abs(_near(mark.yaw - old.yaw, 0.0)) > tolerance
        tilted = float(np.abs(normal - was).max()) > tolerance
        early, late = _differ(mark.on, old.on, tolerance), _differ(mark.off, old.off, tolerance)
        if not (moved or turned or tilted or early or late):
            continue
        edits.append(FootprintEdit(
            mark.leg, mark.index,
            position=mark.position if moved else None,
            yaw=mark.yaw if turned else None,
            normal=normal if tilted else None,
            on=mark.on if early else None,
            off=mark.off if late else None,
            was=FootprintBefore(old.position, old.yaw, old.on, old.off),
        ))
    return tuple(edits)


def _when(mark: Footprint) -> float:
    """Touchdown; of one that stands from before the motion, its start."""
    return max(mark.on, 0.0) if math.isinf(mark.on) else mark.on


def _ways(yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """(2,) ahead and (2,) to the left."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([s, -c]), np.array([c, s])


def _turned(mark: Footprint, angle: float) -> Footprint:
    orientation = multiply(about_z(np.array(angle)), mark.orientation)
    return replace(mark, yaw=mark.yaw + angle, orientation=orientation)


def _near(angle: float, other: float) -> float:
    return angle + 2.0 * math.pi * round((other - angle) / (2.0 * math.pi))


def _differ(a: float, b: float, tolerance: float) -> bool:
    return a != b and not abs(a - b) <= tolerance
