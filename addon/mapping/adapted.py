# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of a motion that was solved again around edited footprints.

Heads look ahead, tails come late: what moves a body reads the motion around
each moment, so that an edit would reach beyond its window. Outside of the
windows the tracks are those without edits, to the bit; inside, at their ends,
they go over into those with them. There the motions hardly differ, and feet
that stand are in the same places in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...solvers.legged.body import minimum_jerk
from ...solvers.legged.windows import align_signs
from ...solvers.rotations import slerp
from .tracks import RoleTracks

PASSING = 0.4  # s; no more than a quarter of the window


def adapted_tracks(
    before: RoleTracks, after: RoleTracks, windows: Sequence[tuple[float, float]]
) -> RoleTracks:
    """Tracks that are others only inside windows.

    Args:
        before: tracks of the motion without edits.
        after: of the motion with them; same times and roles.
        windows: (start, end) of the parts that were solved again, s.

    Returns:
        The tracks, with contacts, events and problems of `after`.
    """
    time = after.time
    share, inside = np.zeros(len(time)), np.zeros(len(time), dtype=bool)
    for start, end in windows:
        passing = min(PASSING, 0.25 * (end - start))
        within = (time > start) & (time < end)
        rising = np.ones(len(time))
        if start > time[0]:
            rising *= minimum_jerk((time - start) / passing)
        if end < time[-1]:
            rising *= minimum_jerk((end - time) / passing)
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
