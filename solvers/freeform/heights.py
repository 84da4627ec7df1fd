# SPDX-License-Identifier: GPL-3.0-or-later
"""Heights of the pelvis between flights (Girard 1986, section 5.2).

From a landing at the speed V the pelvis sinks, the speed falling to 0 at the next posture, or
it rises from the posture before to a liftoff, as A t^e:

    e = V t / D - 1,  at least 1,   A = V / t^e,   way = V t / (e + 1)

with t and D the time and height between the two postures. e is at most HARDEST, too, unless
the way would be longer than D by more than legs GIVE: so a body that has little room, or none,
yields, or bends its knees before it jumps, and one that has long to wait before it jumps does so
at the end. What the way is off from D, a minimum-jerk curve makes up. At the neighbouring
posture it has that posture's height, and the speed that the postures' own heights pass it with,
to which v t (s^3 - s^2) leads, s being the share of the time.
(The paper blends with these heights all the way: a body
that is caught then hangs for a moment, as they begin to sink when it has sunk already.) Where
there is no posture between landing and liftoff, each takes half of the time, and the way is
that of e = 1, or as much as legs bend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curves import minimum_jerk

HARDEST = 3.0  # largest e: who lands by it is stopped by some four times his weight
GIVES = 0.2  # of a leg's length, that the way may be longer than there is room
DEEPEST = 0.35  # of a leg's length, that it bends between landing and liftoff without a posture


def exponent(speed: float, duration: float, way: float, leg: float) -> float:
    """e = V t / D - 1, between 1 and HARDEST, or what the legs' way asks for.

    Args:
        speed: V at the landing or liftoff, m/s, above 0.
        duration: t, s.
        way: D, m; not above 0 where there is no room.
        leg: a leg's length, m.
    """
    room = max(way, 0.0)
    hardest = max(HARDEST, speed * duration / (room + GIVES * leg) - 1.0)
    return float(np.clip(speed * duration / max(room, 1e-9) - 1.0, 1.0, hardest))


@dataclass(frozen=True)
class Piece:
    """Heights over one interval that begins with a landing, or ends with a liftoff.

    Attributes:
        start: s.
        end: s.
        low: height at the start, m.
        high: at the end, m.
        landing: downward speed at the start, m/s; 0 is no landing.
        liftoff: upward speed at the end, m/s; 0 is no liftoff.
        leg: a leg's length, m: both at once bend it so far at most.
        passes: upward speed at the other end, that of the posture there, m/s.
    """

    start: float
    end: float
    low: float
    high: float
    landing: float
    liftoff: float
    leg: float
    passes: float = 0.0

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """(t,) heights, m.

        Args:
            times: (t,) s.
        """
        span = self.end - self.start
        s = np.clip((times - self.start) / span, 0.0, 1.0)
        both = self.landing > 0.0 and self.liftoff > 0.0
        half = 0.5 * span if both else span
        ways, exponents = [], []
        drop = self.low - self.high
        for speed, room in ((self.landing, drop), (self.liftoff, -drop)):
            if both:
                way = min(0.5 * speed * half, DEEPEST * self.leg)
                e = max(speed * half / way - 1.0, 1.0)
            else:
                e = exponent(speed, half, room, self.leg)
            ways.append(speed * half / (e + 1.0))
            exponents.append(e + 1.0)
        first = np.clip(s * span / half, 0.0, 1.0)
        last = np.clip(1.0 - (1.0 - s) * span / half, 0.0, 1.0)
        z = self.low - ways[0] * (1.0 - (1.0 - first) ** exponents[0])
        z = z + ways[1] * last ** exponents[1]
        z = z + (self.high - self.low + ways[0] - ways[1]) * minimum_jerk(s)
        if both:
            return z
        if self.landing > 0.0:
            return z + self.passes * span * (s - 1.0) * s * s
        return z + self.passes * span * s * (1.0 - s) ** 2
