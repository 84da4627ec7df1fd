# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver of legged motion is asked for, and its checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..errors import SettingError, check_number
from ..motion import Placement
from ..turning.settings import sample_times
from .choose import LADDERS, RELUCTANCE, Band
from .creature import Creature, check_creature, quadruped
from .edits import FootprintEdit, Locks, Pin, check_edits
from .footholds import Ground
from .gait import PRESETS, Gait, check_gait

Sampled = float | np.ndarray


@dataclass(frozen=True)
class GaitItem:
    """One gait of a sequence.

    Attributes:
        gait: the gait, or the name of a preset.
        start: when it begins, s; that of the first item does not count.
        distance: how far along the path it begins, m; None to go by `start`.
    """

    gait: Gait | str
    start: float = 0.0
    distance: float | None = None


@dataclass(frozen=True)
class GaitSettings:
    """Settings of one legged motion, SI units and radians.

    Attributes:
        creature: what walks.
        sequence: the gaits, one after the other; empty to choose them by
            Froude number.
        start_phase: share of the first gait's cycle, a stride or where sides
            alternate two, that has gone at the start, 0 to 1;
            `end_state.phase` / (2 pi) of a motion that this one goes on from.
        n_frames: frames of the motion, both ends included.
        fps: real frame rate, frames per second.
        speed: wanted along the path, m/s; or its value at each of
            `sample_times(n_frames, fps)`.
        path: (k, 2) or (k, 3) points of the path in the ground plan, m; None
            to go straight ahead from the placement.
        closed: True if the path's end meets its start; it is gone around.
        ground: the terrain; None for a plane through the placement.
        placement: where the motion starts and the way it faces, without a path.
        gravity: m/s^2.
        impulse: largest horizontal acceleration that one leg on the ground
            gives the body, m/s^2.
        response: time in which errors of the velocity are made up, s.
        ladder: gaits that are chosen from; empty for that of the number of legs.
        hysteresis: of the choice, share of the Froude number.
        most_bank: largest lean in bends, rad.
        bank: amount of the lean; 1 is what keeps the balance.
        reach: share of what legs use of their length while their feet are down
            (`Leg.reach`).
        crouch: how far hips may sink to reach footholds, share of their height.
        most_step: largest difference of height of footholds of a leg that
            follow each other, as a part of the hip height.
        search: how far around better footholds are looked for, likewise.
        steepest: slope of ground that still carries, rad.
        clearance: least height of a swinging sole over the ground at mid
            swing, as a part of the hip height.
        stairs: True to take as long strides on stairs as treads are deep, or several
            of them.
        round_to_frames: True to round touchdowns and liftoffs to frames.
        edits: what was changed about footprints by hand.
        locks: what that leaves alone.
        pins: states of the body between which it was solved again when the
            footprints were edited; where they are others now, the problem list
            says so. Empty not to compare.
    """

    creature: Creature = field(default_factory=quadruped)
    sequence: tuple[GaitItem, ...] = ()
    start_phase: float = 0.0
    n_frames: int = 250
    fps: float = 24.0
    speed: Sampled = 1.6
    path: np.ndarray | None = None
    closed: bool = False
    ground: Ground | None = None
    placement: Placement = field(default_factory=Placement)
    gravity: float = 9.81
    impulse: float = 6.0
    response: float = 0.1
    ladder: tuple[Band, ...] = ()
    hysteresis: float = 0.25
    most_bank: float = 0.8
    bank: float = 1.0
    reach: float = 1.0
    crouch: float = 0.2
    most_step: float = 0.5
    search: float = 0.3
    steepest: float = math.radians(50.0)
    clearance: float = 0.015
    stairs: bool = True
    round_to_frames: bool = False
    edits: tuple[FootprintEdit, ...] = ()
    locks: Locks = field(default_factory=Locks)
    pins: tuple[Pin, ...] = ()


# name -> (label, least, most, requirement)
NUMBERS: dict[str, tuple[str, float, float, str]] = {
    "start_phase": ("Start Phase", 0.0, 1.0, "between 0 and 1"),
    "gravity": ("Gravity", 1e-3, 1000.0, "above 0 m/s^2 (at most 1000)"),
    "impulse": ("Impulse", 0.0, 1e6, "between 0 and 1,000,000 m/s^2"),
    "response": ("Response", 0.0, 1e3, "between 0 and 1000 s"),
    "hysteresis": RELUCTANCE,
    "most_bank": ("Bank Limit", 0.0, math.radians(74.0), "between 0 and 74 degrees"),
    "bank": ("Bank", -5.0, 5.0, "between -5 and 5"),
    "reach": ("Reach", 0.5, 1.0, "between 0.5 and 1"),
    "crouch": ("Crouch", 0.0, 0.8, "between 0 and 0.8"),
    "most_step": ("Step Height", 0.0, 10.0, "between 0 and 10 hip heights"),
    "search": ("Search", 0.0, 10.0, "between 0 and 10 hip heights"),
    "steepest": ("Max Slope", 0.0, math.radians(89.0), "between 0 and 89 degrees"),
    "clearance": ("Clearance", 0.0, 2.0, "between 0 and 2 hip heights"),
}
# Likewise of one gait of the list.
ITEM_NUMBERS: dict[str, tuple[str, float, float, str]] = {
    "start": ("Time", 0.0, 1e6, "between 0 and 1,000,000 s"),
    "distance": ("Distance", 0.0, 1e6, "between 0 and 1,000,000 m"),
}


def check_settings(settings: GaitSettings) -> tuple[np.ndarray, np.ndarray]:
    """Check all settings but those of gaits.

    Args:
        settings: what was asked for.

    Returns:
        (m,) times of the samples, s, and (m,) speeds, m/s.

    Raises:
        SettingError: a value is out of its range.
    """
    time = sample_times(settings.n_frames, settings.fps)
    check_creature(settings.creature)
    for name, (label, least, most, requirement) in NUMBERS.items():
        check_number(label, getattr(settings, name), least, most, requirement)
    origin = np.asarray(settings.placement.origin, dtype=float)
    if origin.shape != (3,) or not np.all(np.isfinite(origin)):
        raise SettingError("Placement", settings.placement.origin, "three finite coordinates")
    check_number("Placement Yaw", settings.placement.yaw, -1e6, 1e6, "a finite angle")
    for number, item in enumerate(settings.sequence, start=1):
        for name, (label, least, most, requirement) in ITEM_NUMBERS.items():
            amount = getattr(item, name)
            if amount is not None:
                check_number(f"{label} of gait {number}", amount, least, most, requirement)
    check_edits(settings.edits)
    try:
        speed = np.asarray(settings.speed, dtype=float)
    except (TypeError, ValueError):
        raise SettingError("Speed", settings.speed, "a number") from None
    if speed.ndim != 0 and speed.shape != time.shape:
        raise SettingError(
            "Speed",
            f"an array of shape {speed.shape}",
            f"one number or an array of shape {time.shape}, one value per half solver step",
        )
    speed = np.broadcast_to(speed, time.shape)
    good = (speed >= 0.0) & (speed <= 1000.0)
    if not good.all():
        first = int(np.argmin(good))
        raise SettingError(
            f"Speed at {time[first]:.3f} s", float(speed[first]), "between 0 and 1000 m/s"
        )
    return time, speed


def gait_of(gait: Gait | str, creature: Creature) -> Gait:
    """A checked gait, with its legs in the order of an animal's.

    Args:
        gait: the gait, or the name of a preset.
        creature: the animal.

    Returns:
        The gait.

    Raises:
        SettingError: there is no such preset, or the gait is not good or is
            for another number of legs.
    """
    if isinstance(gait, str):
        if gait not in PRESETS:
            raise SettingError("Gait", repr(gait), "one of " + ", ".join(PRESETS))
        gait = PRESETS[gait]
    return check_gait(gait).for_legs([leg.name for leg in creature.legs])


def ladder_for(settings: GaitSettings) -> tuple[Band, ...]:
    """The gaits that an animal chooses from.

    Args:
        settings: what was asked for.

    Returns:
        Its ladder.

    Raises:
        SettingError: there is none for that number of legs.
    """
    if settings.ladder:
        return settings.ladder
    kind = {2: "BIPED", 4: "QUADRUPED", 6: "HEXAPOD"}.get(len(settings.creature.legs))
    if kind is None:
        raise SettingError(
            "Sequence of gaits",
            "empty",
            f"given for an animal with {len(settings.creature.legs)} legs "
            "(gaits are chosen for two, four and six)",
        )
    return LADDERS[kind]
