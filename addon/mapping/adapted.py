# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of a motion that was solved again around edited footprints.

Heads look ahead, tails come late: what moves a body reads the motion around
each moment, so that an edit would reach beyond its window. Outside of the
windows the tracks are those without edits, to the bit; inside, at their ends,
they go over into those with them. There the motions hardly differ, and feet
that stand are in the same places in both: it is done before the first of them
stands elsewhere, and begins when the last one has left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...solvers.legged import GaitMotion
from ...solvers.legged.body import minimum_jerk
from ...solvers.legged.windows import align_signs
from ...solvers.rotations import slerp
from .tracks import RoleTracks

PASSING = 0.4  # s; no more than a quarter of the window
SHORTEST = 1e-3  # s
SAME = 1e-9  # m, and of a quaternion's parts


def adapted_tracks(before: RoleTracks, after: RoleTracks, motion: GaitMotion) -> RoleTracks:
    """Tracks that are others only inside windows.

    Args:
        before: tracks of the motion without edits.
        after: of the motion with them; same times and roles.
        motion: the motion with them.

    Returns:
        The tracks, with contacts, events and problems of `after`.
    """
    time = after.time
    share, inside = np.zeros(len(time)), np.zeros(len(time), dtype=bool)
    for start, end in motion.windows:
        rise, fall = _passing(motion, start, end)
        within = (time > start) & (time < end)
        rising = np.ones(len(time))
        if start > time[0]:
            rising *= minimum_jerk((time - start) / rise)
        if end < time[-1]:
            rising *= minimum_jerk((end - time) / fall)
        share = np.where(within, rising, share)
        inside |= within

    def mixed(old: Mapping[str, np.ndarray], new: Mapping[str, np.ndarray]) -> dict:
        found = {}
        for name, values in new.items():
            if name not in old:
                found[name] = values
                continue
            part = np.array(old[name], dtype=float)
            amount = share[inside].reshape(-1, *[1] * (part.ndim - 1))
            there = np.asarray(values, dtype=float)[inside]
            part[inside] += amount * (there - part[inside])
            part[inside] = np.where(amount >= 1.0, there, part[inside])
            found[name] = part
        return found

    rotation = {}
    for name, values in after.rotation.items():
        part = np.array(before.rotation.get(name, values), dtype=float)
        there = np.asarray(values, dtype=float)[inside]
        passed = slerp(part[inside], there, share[inside])
        part[inside] = np.where(share[inside, None] >= 1.0, there, passed)
        align_signs(part, inside)
        rotation[name] = part
    return replace(
        after,
        position=mixed(before.position, after.position),
        rotation=rotation,
        attributes=mixed(before.attributes, after.attributes),
        spins=mixed(before.spins, after.spins),
    )


def _passing(motion: GaitMotion, start: float, end: float) -> tuple[float, float]:
    """How long tracks go over at the start of a window, and at its end, s."""
    usual = min(PASSING, 0.25 * (end - start))
    old, time = motion.before, motion.time
    if old is None:
        return usual, usual
    apart = np.abs(motion.foot_position - old.foot_position).max(axis=2) > SAME
    turn, was = motion.foot_orientation, old.foot_orientation
    # Quaternions of opposite signs are the same turn.
    apart |= np.minimum(np.abs(turn - was), np.abs(turn + was)).max(axis=2) > SAME
    stands = (apart & (motion.contact | old.contact)).any(axis=1) & (time > start) & (time < end)
    elsewhere = time[stands]
    if not len(elsewhere):
        return usual, usual
    sample = float(time[1] - time[0])
    rise, fall = float(elsewhere[0] - start) - sample, float(end - elsewhere[-1]) - sample
    return min(usual, max(rise, SHORTEST)), min(usual, max(fall, SHORTEST))
