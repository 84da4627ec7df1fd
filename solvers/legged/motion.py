# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver of legged motion hands on: frozen arrays, time first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..clock import Clock
from ..motion import BodyState, Problem
from .creature import Creature
from .edits import Pin
from .shapes import ShapePoint
from .steps import GaitChange
from .support import SupportProfile


@dataclass(frozen=True)
class FootRolls:
    """How a foot stands at moments while it rolls over its heel, or over its toes.

    Attributes:
        time: (k,) s, in order.
        position: (k, 3) of the sole's marked point, m.
        orientation: (k, 4) of the foot, pitch included.
        pitch: (k,) toes up over the footprint, rad.
        rank: (k,) 0 at the ends of a roll, 1 and 2 between them: those of rank 0 and 1 are
            near enough together for straight lines.
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    pitch: np.ndarray
    rank: np.ndarray


@dataclass(frozen=True)
class Footprint:
    """One step of a leg: where and when its foot is on the ground.

    Attributes:
        leg: name of the leg.
        index: number of the step of that leg, 0 the first that is on the
            ground at the start of the motion or after it.
        position: (3,) of the sole's marked point, m.
        orientation: (4,) of the flat foot.
        yaw: of the flat foot about +Z, rad, 0 facing -Y.
        on: touchdown, s; minus infinity if it stands from before the motion.
        off: liftoff, s; infinite if it stands for good.
        gait: name of the gait.
        edited: whether it was changed by hand.
        rolls: how the foot stands at `on`, at `off`, and at moments while it rolls.
        shape: the postures that it swings through on the way here; none: as the gait has it.
    """

    leg: str
    index: int
    position: np.ndarray
    orientation: np.ndarray
    yaw: float
    on: float
    off: float
    gait: str
    edited: bool = False
    rolls: FootRolls | None = None
    shape: tuple[ShapePoint, ...] = ()

    def moved(self, by: np.ndarray | float = 0.0, later: float = 0.0) -> Footprint:
        """The same elsewhere, at another time.

        Args:
            by: (3,) m.
            later: s.
        """
        rolls = self.rolls
        if rolls is not None:
            rolls = replace(rolls, position=rolls.position + by, time=rolls.time + later)
        return replace(
            self, position=self.position + by, on=self.on + later, off=self.off + later,
            rolls=rolls,
        )


@dataclass(frozen=True)
class GaitMotion:
    """A walking body over time.

    Arrays have n samples, `steps_per_frame` to a frame, L legs in the order of
    the creature's, and G girdles.

    Attributes:
        time: (n,) s from the start.
        steps_per_frame: solver steps per frame; frame i is sample
            i * steps_per_frame.
        position: (n, 3) of the body's centre, m.
        orientation: (n, 4) of the body, from the rest pose, facing -Y.
        yaw: (n,) rad, unwrapped.
        pitch: (n,) nose up, rad.
        roll: (n,) to the left, rad.
        bank: (n,) the part of the roll that balances bends, rad.
        velocity: (n, 3) of the body's centre, m/s.
        girdle_height: (n, G) heights of the girdles, m.
        girdle_speed: (n, G) their vertical speeds, m/s.
        hip: (n, L, 3) m.
        foot_position: (n, L, 3) of the soles' marked points, m.
        foot_orientation: (n, L, 4) from the rest pose.
        foot_pitch: (n, L) of the soles over their footprints, toes up, rad.
        contact: (n, L) bool: on the ground.
        footprints: in order of legs and time; those that touch the motion.
        supports: (G,) support profile of each girdle.
        gaits: (name, start, end) of each gait that is used, s; a change
            belongs to the gait that it leads to.
        changes: how gaits were changed.
        problems: the problem list.
        success: False if a foot stands where its leg cannot reach.
        end_state: hand-over to a following motion.
        creature: what walks.
        windows: (start, end) of the parts that were solved again around edited
            footprints, s; outside of them the motion is as without edits.
        pins: states of the body at their ends, as without edits.
        before: the motion without edits; None if there are none.
    """

    time: np.ndarray
    steps_per_frame: int
    position: np.ndarray
    orientation: np.ndarray
    yaw: np.ndarray
    pitch: np.ndarray
    roll: np.ndarray
    bank: np.ndarray
    velocity: np.ndarray
    girdle_height: np.ndarray
    girdle_speed: np.ndarray
    hip: np.ndarray
    foot_position: np.ndarray
    foot_orientation: np.ndarray
    foot_pitch: np.ndarray
    contact: np.ndarray
    footprints: tuple[Footprint, ...]
    supports: tuple[SupportProfile, ...]
    gaits: tuple[tuple[str, float, float], ...]
    changes: tuple[GaitChange, ...]
    problems: tuple[Problem, ...]
    success: bool
    end_state: BodyState
    creature: Creature
    windows: tuple[tuple[float, float], ...] = ()
    pins: tuple[Pin, ...] = ()
    before: GaitMotion | None = None

    @property
    def clock(self) -> Clock:
        """When the samples are."""
        return Clock.even(self.time, self.steps_per_frame)

    @property
    def footprints_before(self) -> tuple[Footprint, ...]:
        """The footprints as they are without edits; empty if there are none."""
        return () if self.before is None else self.before.footprints
