# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits by Froude number: what an animal of that size chooses at that speed.

Animals of different sizes change gait at about the same Froude number
Fr = v^2 / (g h), h the hip height (Alexander and Jayes 1983): from a walk to a
trot or a run near 0.5 (horses 0.35, people 0.5), from a trot to a gallop
between 2 and 3. They go back at a lower one than they went up at, so that a
speed near the border does not make them change to and fro.

Insects slide from the wave by the ripple to the tripod as they go faster
(Ramdya et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import SettingError, check_number


class Band(NamedTuple):
    """One gait of a ladder of gaits, slow to fast.

    Attributes:
        gait: its name among the presets.
        up: Froude number from which it is chosen by an animal that
            accelerates; that of the first does not count.
    """

    gait: str
    up: float


# Of the hysteresis: (label, least, most, requirement).
RELUCTANCE = ("Reluctance", 0.0, 0.99, "between 0 and 0.99")

LADDERS: dict[str, tuple[Band, ...]] = {
    "QUADRUPED": (
        Band("WALK", 0.0), Band("TROT", 0.4), Band("CANTER_LEFT", 2.0), Band("GALLOP_LEFT", 4.0),
    ),
    "BIPED": (Band("WALK_BIPED", 0.0), Band("JOG", 0.5), Band("RUN", 1.2)),
    "HEXAPOD": (Band("WAVE", 0.0), Band("RIPPLE", 0.05), Band("TRIPOD", 0.3)),
}
"""What is chosen from by an animal of that kind."""


class Choice(NamedTuple):
    """A gait and when it begins.

    Attributes:
        gait: its name.
        start: s.
    """

    gait: str
    start: float


def choose_gaits(
    time: np.ndarray,
    speed: np.ndarray,
    hip: float,
    gravity: float,
    ladder: Sequence[Band] = LADDERS["QUADRUPED"],
    hysteresis: float = 0.25,
) -> tuple[Choice, ...]:
    """The gaits that an animal goes through under a speed that varies.

    It goes up a gait when Fr reaches that gait's `up`, and down when Fr falls
    below (1 - hysteresis) times it. Where speed passes several at once, those
    between are skipped.

    Args:
        time: (m,) s, increasing.
        speed: (m,) m/s, linear between the times.
        hip: hip height h, m.
        gravity: m/s^2.
        ladder: gaits from slow to fast.
        hysteresis: share of Fr, at least 0 and below 1.

    Returns:
        The gaits in order, the first at the first time; crossings are at
        their exact times.

    Raises:
        SettingError: the ladder is empty or not in order, or a value is out
            of range.
    """
    check_number(RELUCTANCE[0], hysteresis, *RELUCTANCE[1:])
    check_number("Hip Height", hip, 1e-6, 1e6, "above 0 m")
    if not ladder:
        raise SettingError("Ladder of gaits", "empty", "at least one gait")
    up = np.array([band.up for band in ladder[1:]], dtype=float)
    if np.any(np.diff(up) < 0.0) or np.any(up < 0.0):
        raise SettingError("Ladder of gaits", tuple(up), "in order of Froude number")
    time, speed = np.asarray(time, dtype=float), np.asarray(speed, dtype=float)
    faster = np.sqrt(up * gravity * hip)
    slower = np.sqrt(up * (1.0 - hysteresis) * gravity * hip)
    now = int(np.count_nonzero(speed[0] >= faster))
    chosen = [Choice(ladder[now].gait, float(time[0]))]
    at = 0
    while at < len(time) - 1:
        rest = speed[at + 1 :]
        leave = np.zeros(len(rest), dtype=bool)
        if now < len(up):
            leave |= rest >= faster[now]
        if now > 0:
            leave |= rest < slower[now - 1]
        if not leave.any():
            break
        after = at + 1 + int(np.argmax(leave))
        bound = faster[now] if now < len(up) and speed[after] >= faster[now] else slower[now - 1]
        if speed[after] >= bound and now < len(up):
            now = int(np.count_nonzero(speed[after] >= faster))
        else:
            now = int(np.count_nonzero(speed[after] >= slower))
        gained = speed[after] - speed[after - 1]
        share = (bound - speed[after - 1]) / gained if gained else 1.0
        moment = time[after - 1] + min(max(share, 0.0), 1.0) * (time[after] - time[after - 1])
        chosen.append(Choice(ladder[now].gait, float(moment)))
        at = after
    return tuple(chosen)
