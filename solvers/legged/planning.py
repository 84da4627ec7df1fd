# SPDX-License-Identifier: GPL-3.0-or-later
"""The first stage of a legged motion: gaits, their clocks and all steps.

Girard 1986, sections 3.2 to 3.4: how many strides a gait makes at a speed, when its
legs are on the ground, and how their steps are shifted where gaits change (`gait`,
`steps`). The speed is what is left of the wanted one where strides have to be
shorter (`strides`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import SettingError
from ..motion import Problem
from . import problems
from .choose import choose_gaits
from .footholds import Ground, level_ground
from .gait import Gait, PhaseClock
from .path import Path
from .settings import GaitItem, GaitSettings, check_settings, gait_of, ladder_for
from .steps import GaitPlan, plan_steps, square_up
from .strides import SHOWS, Strides

Progress = Callable[[float], None]

MOST_STEPS = 50_000
MOST_MARGIN = 60.0  # s


class Planning:
    """Steps from gaits.

    Args:
        settings: what is asked for.
        progress: called with the fraction done; may raise `Cancelled`, which
            passes through.

    Raises:
        SettingError: a setting is out of range or contradicts another.
    """

    def __init__(self, settings: GaitSettings, progress: Progress | None) -> None:
        self.settings = settings
        self._progress, self._ticks = progress, 0
        self.times, self.wanted = check_settings(settings)
        self.creature = settings.creature
        self.gravity = float(settings.gravity)
        self.legs = self.creature.legs
        self.n_legs = len(self.legs)
        self.names = [leg.name for leg in self.legs]
        self.heights = self.creature.heights()
        self.hip = self.creature.hip_height()
        self.girdles = self.creature.girdles()
        self.girdle_of = np.zeros(self.n_legs, dtype=int)
        for g, legs in enumerate(self.girdles):
            self.girdle_of[legs] = g
        self.path = Path(settings.path, settings.closed, settings.placement)
        self.ground: Ground = settings.ground or level_ground(float(settings.placement.origin[2]))
        self.level = settings.ground is None
        self.end = float(self.times[-1])
        # What the legs can cover on the ground: from as far ahead as behind, and what feet roll.
        low = (1.0 - 0.5 * settings.crouch) * (
            self.heights - np.array([leg.ankle[2] for leg in self.legs])
        )
        far = settings.reach * np.array([leg.reach * leg.length for leg in self.legs])
        self.reached = far
        aside = np.array([(leg.hip[0] - leg.foot[0]) for leg in self.legs])
        self.room = 2.0 * np.sqrt(np.maximum(far**2 - low**2 - aside**2, (0.1 * far) ** 2))
        self.room += np.array([max(leg.heel + leg.toe, 0.0) for leg in self.legs])
        self.problems: list[Problem] = []
        self.strides = Strides(self.times, self.wanted, self.hip, self.gravity)

    @property
    def speeds(self) -> np.ndarray:
        """Speeds at the times.

        Returns:
            (k,) m/s.
        """
        return self.strides.pace.speeds()

    def tick(self) -> None:
        """Tell of progress; how long all will take is not known, so ever less is added."""
        if self._progress is not None:
            self._ticks += 1
            self._progress(self._ticks / (self._ticks + 10.0))

    def plan(self) -> None:
        """Gaits, their clocks and all steps."""
        settings, g = self.settings, self.gravity
        items = [
            (gait_of(item.gait, self.creature), self._start_of(item)) for item in settings.sequence
        ]
        if not items:
            chosen = choose_gaits(
                self.times, self.speeds, self.hip, g, ladder_for(settings), settings.hysteresis
            )
            items = [(gait_of(choice.gait, self.creature), choice.start) for choice in chosen]
        items = items[:1] + sorted(items[1:], key=lambda item: item[1])
        bounds = [-math.inf, *(start for _gait, start in items[1:]), math.inf]
        self.plans = [
            self._plan_of(gait, start, bounds[i : i + 2]) for i, (gait, start) in enumerate(items)
        ]
        # Steps, and the body's way, before and after the motion too: two strides and a half.
        ends = float(self.plans[0].clock.rate(0.0)), float(self.plans[-1].clock.rate(self.end))
        moving = [rate for rate in ends if rate > 1e-3]
        self.margin = min(max(2.5 / min(moving, default=10.0), 0.2), MOST_MARGIN)
        for plan in self.plans:
            count = float(plan.clock.phase(self.end + self.margin) - plan.clock.phase(-self.margin))
            if count * self.n_legs > MOST_STEPS:
                raise SettingError(
                    f"Stride of gait {plan.gait.name}",
                    f"so short that it takes {count * self.n_legs:,.0f} steps",
                    f"longer: at most {MOST_STEPS:,} steps",
                )
        self.rests = self._rests()
        frame = 1.0 / settings.fps if settings.round_to_frames else 0.0
        self.steps, self.changes = plan_steps(
            self.plans, -self.margin, self.end + self.margin, frame, settings.start_phase
        )
        self.steps = square_up(
            self.steps, self.plans, PhaseClock(self.times, self.speeds), self.room, self.rests
        )
        self.stands = np.isinf(self.steps.on) | np.isinf(self.steps.off)
        for begin, end in self.rests:
            self.stands |= (self.steps.middle >= begin) & (self.steps.middle <= end)
        names = self.names
        self.problems += problems.changes_of_gait(self.plans, self.changes, self.end)
        self.problems += problems.short_transfers(self.steps, self.plans, names, self.end)
        self.problems += problems.unusual_speeds(
            self.plans, self.changes, self.times, self.speeds, self.hip, g
        )

    def _rests(self) -> list[tuple[float, float]]:
        """Spans of time within the motion in which the body hardly moves, s."""
        still = self.speeds < self.strides.creep
        edges = np.flatnonzero(np.diff(np.concatenate(([False], still, [False])).astype(int)))
        return [
            (float(self.times[first]), float(self.times[last - 1]))
            for first, last in edges.reshape(-1, 2)
            if first > 0 and last < len(still)
        ]

    def _start_of(self, item: GaitItem) -> float:
        if item.distance is None:
            return float(item.start)
        return float(PhaseClock(self.times, self.speeds).time(item.distance))

    def _plan_of(self, gait: Gait, start: float, used: Sequence[float]) -> GaitPlan:
        g, v = self.gravity, self.speeds
        froude = v * v / (g * self.hip)
        duty = gait.duties(froude)
        room = self.room
        most = np.min(room / duty, axis=1)
        rate = gait.rates(self.wanted, self.hip, g, np.inf)
        limited = gait.rates(self.wanted, self.hip, g, most)
        # Told only where it shows, and while the gait is used.
        over = limited > rate * (1.0 + SHOWS)
        over &= (self.times >= used[0]) & (self.times <= used[1])
        if over.any():
            first = int(np.argmax(over))
            leg = int(np.argmin(room / duty[first]))
            stride = self.wanted[first] / max(rate[first], 1e-12)
            self.problems.append(problems.stroke_limited(
                gait.name, self.names[leg], float(self.times[first]),
                float(stride * duty[first, leg]), float(room[leg]),
            ))
        tempo = math.sqrt(self.hip / g)
        least = gait.least_transfer * tempo
        slow = max(math.sqrt(max(gait.froude[0], 0.01) * g * self.hip), 1e-6)
        slow_rate = float(gait.rates(np.array(slow), self.hip, g))
        longest = max((gait.gaps().max() - min(gait.duty)) / slow_rate, least, 2.0 * tempo)
        if gait.period is not None:
            longest = max(longest, gait.period)
        limited = limited * self.strides.pace.hurries()  # where strides are shortened
        clock = PhaseClock(self.times, limited)
        return GaitPlan(gait, start, clock, duty, self.times, least, longest)

    def _stride_rate(self, time: np.ndarray) -> np.ndarray:
        """Strides a second of the gait in force."""
        rate = self.plans[0].clock.rate(time)
        for change in self.changes:
            rate = np.where(time >= change.start, self.plans[change.gait].clock.rate(time), rate)
        return rate


def stride_rate(settings: GaitSettings) -> float:
    """How often strides come at the start of a motion on level ground.

    As the gait has them at the speed, v / L(v), and as often as legs make them that do not
    reach as far (Girard 1986, section 3.3).

    Args:
        settings: what is asked for.

    Returns:
        1/s.

    Raises:
        SettingError: as for `solve_gait`.
    """
    planning = Planning(settings, None)
    planning.plan()
    return float(planning.plans[0].clock.rate(0.0))
