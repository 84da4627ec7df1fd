# SPDX-License-Identifier: GPL-3.0-or-later
"""The second stage of a legged motion: the body's way, and its turning.

Girard 1986, sections 4.2 to 4.4: legs that are on the ground push the body along its
path, turn it and let it lean into bends; in the air nothing does (`body`).
"""

from __future__ import annotations

import math

import numpy as np

from ..turning.settings import steps_per_frame
from . import problems
from .body import (
    Curve,
    GroundPlan,
    Heading,
    Line,
    bank_angle,
    horizontal_motion,
    spread_turns,
    turning_motion,
)
from .gait import PhaseClock
from .planning import Planning
from .support import share_down, support_profile

LONGEST_GAP = 0.6  # s between the moments at which a standing body may change its turning
MOST_TURN = math.radians(120.0)  # that a body turns in a stride: feet stand while it turns
SLOW_STRIDE = 0.02  # sqrt(g / hip height): who takes fewer strides a second stands


class Travelling(Planning):
    """Where the body is over time, seen from above, and where it heads."""

    # --- along the path ---------------------------------------------------------------
    def go(self) -> None:
        """The body's way in the ground plan."""
        settings = self.settings
        per_frame = steps_per_frame(settings.fps)
        dt = 1.0 / (per_frame * settings.fps)
        n = per_frame * (int(settings.n_frames) - 1) + 1
        extra = int(math.ceil(self.margin / dt))
        self.per_frame, self.inside = per_frame, slice(extra, extra + n)
        time = dt * (np.arange(n + 2 * extra) - extra)
        way = PhaseClock(self.times, self.speeds)  # strides of one metre
        pace = way.rate(time)
        strength = np.zeros(max(len(time) - 1, 0))
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            strength += share_down(self.steps.on[own], self.steps.off[own], time)
        self.horizontal: GroundPlan
        self.horizontal, along, off = horizontal_motion(
            time, self.path, float(way.phase(time[0])), pace, settings.impulse * strength,
            settings.response, 0.05 * self.hip, self.tick,
        )
        self._along = along
        seen = self.inside
        self.problems += problems.way_of_body(
            time[seen], off[seen], along[seen], way.phase(time[seen]),
            math.inf if self.path.closed else self.path.length, self.hip, settings.impulse,
        )
        # The way it heads: its velocity, and the path's direction where it hardly moves.
        self._creep = self.strides.creep * self.path.at(along)[1]
        excess, asked = self._head()
        self.problems += problems.sharp_turn(
            time[seen], excess[seen], asked[seen], MOST_TURN, self._stride_rate(time[seen])
        )

    def _head(self) -> tuple[np.ndarray, np.ndarray]:
        """Where it heads over time.

        Returns:
            (n,) how much quicker its way turns than it can, rad/s, and (n,) where it would head
            to face along its way, rad.
        """
        heading = self.horizontal.velocity + self._creep
        asked = np.unwrap(np.arctan2(heading[:, 0], -heading[:, 1]))
        time = self.horizontal.time
        slow = SLOW_STRIDE * math.sqrt(self.gravity / self.hip)
        stride = np.maximum(self._stride_rate(time), slow)
        dt = float(time[1] - time[0]) if len(time) > 1 else 1.0
        self._heading, excess = spread_turns(
            asked, dt, MOST_TURN * stride, 0.5 / float(np.median(stride))
        )
        return excess, asked

    def _headings(self, time: np.ndarray) -> np.ndarray:
        return np.interp(time, self.horizontal.time, self._heading)

    # --- turning and leaning ----------------------------------------------------------
    def turn(self) -> None:
        """Yaw, bank and the moments of midstance."""
        steps = self.steps
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        whole = support_profile(steps.on, steps.off)
        landing = steps.on[(steps.on > first) & (steps.on < last)]
        apart = 0.25 * float(np.median(np.minimum(steps.off - steps.on, LONGEST_GAP)))
        knots = [first]
        landed = set(whole.start.tolist())
        for moment in np.unique(landing).tolist():
            if moment - knots[-1] > apart or (moment in landed and moment - knots[-1] > 1e-3):
                knots.append(moment)
        knots.append(max(last, knots[-1] + 0.1))
        start = np.array(knots)
        liftoff, touchdown = whole.flights()
        aloft = share_down(liftoff, touchdown, start) * np.diff(start) if len(liftoff) else None
        flight = np.zeros(len(start) - 1) if aloft is None else aloft
        parts = np.where(flight > 0.0, 1, np.ceil(np.diff(start) / LONGEST_GAP).astype(int))
        if np.any(parts > 1):
            start = np.concatenate(
                [a + (b - a) * np.arange(k) / k for a, b, k in
                 zip(start[:-1], start[1:], parts, strict=True)] + [start[-1:]]
            )
            flight = np.repeat(flight, parts)
        wanted = self._headings(start)
        rate = np.gradient(wanted, start) if len(start) > 1 else np.zeros(1)
        self.turning: Heading = turning_motion(start, flight, wanted, rate)
        # Midstances; steps that stand at the ends belong to the poses there.
        self.middle = np.clip(np.nan_to_num(steps.middle, neginf=0.0, posinf=self.end), first, last)
        self.middle[np.isneginf(steps.on)] = 0.0
        self.bank: Curve = self._lean()

    def _lean(self) -> Line:
        """The bank through all midstances."""
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        moments = np.unique(np.round(self.middle, 6))
        half = 0.5 / np.maximum(self._stride_rate(moments), 0.2)
        before, after = np.maximum(moments - half, first), np.minimum(moments + half, last)
        bend = self._headings(after) - self._headings(before)
        chord = np.linalg.norm(self.horizontal(after) - self.horizontal(before), axis=1)
        span = np.maximum(after - before, 1e-9)
        # Of an arc as long as the way, whose chord is this; not where it goes half around.
        small = np.abs(bend) < 2.0
        arc = chord / np.sinc(np.where(small, bend, 0.0) / (2.0 * np.pi))
        pace = np.linalg.norm(self.horizontal.velocity, axis=1)
        speed = np.where(small, arc / span, np.interp(moments, self.horizontal.time, pace))
        curvature = bend / np.maximum(speed * span, 1e-6)
        curvature[speed < 0.05 * math.sqrt(self.gravity * self.hip)] = 0.0
        asked = np.arctan(speed * speed * curvature / self.gravity)
        bank = bank_angle(speed, curvature, self.gravity, self.settings.most_bank)
        sharp = np.abs(asked) > self.settings.most_bank + 1e-9
        sharp &= (moments >= 0.0) & (moments <= self.end)
        if sharp.any():
            k = int(np.argmax(np.where(sharp, np.abs(asked), 0.0)))
            self.problems.append(problems.sharp_bend(
                float(moments[k]), float(speed[k]), float(curvature[k]), float(asked[k])
            ))
        return Line(moments, self.settings.bank * bank)
