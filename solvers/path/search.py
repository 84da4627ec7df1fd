# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan a few seconds ahead: the branch-and-bound of van de Panne, Fiume and
Vranesic (1993), section 6.1.

A plan is N stages of equal length; in each the rate dC/dt of the foot's
curvature has one of q values. Its cost is the sum of the distances between
the foot and the nearest point of the path after each of the substeps of each
stage. With `PathSettings.effort` e, which the paper does not have, a stage of
m substeps whose rate u follows on a rate u_0 costs m e ((u - u_0) / u_max)^2
more: among plans that keep nearly as close to the path, one that steers
evenly is better than one that goes back and forth. That is known as soon as
the stage is and never negative, so that the cost of a part of a plan remains
a lower bound of the whole. What the paper leaves open is settled so:

- The motion is that of `stages.simulate`: forward dynamics by Nystroem's
  method and Simpson's rule, both of order 4, in equal steps.
- The largest rate tried is the limit, or what changes the curvature within a
  stage by that of a steady turn at the lean limit, g tan(theta) / V^2, if that
  is less. More is seldom of use, and the values in between lie so far apart
  then that a plan has to go back and forth between them (`USEFUL`).
- A rate that would take the curvature over its limit within the stage is made
  smaller, so that the stage ends on the limit; of rates that become equal so,
  the smallest as given is kept.
- A child is dropped if its lean, anywhere within a step, exceeds the limit;
  if its track, curved as it is, comes nearer to an obstacle than the
  clearance; if it passes a gate on the wrong side; or if it cannot be better
  than the best whole plan known. Over terrain, whose equations of motion are
  those of `descent`, also if it leaves the terrain before the path does, or
  comes to a stop. Each node has its speed there: it is integrated within the
  search, not predicted. What is nearest is then nearest in the ground plan.
- A whole plan gets on along the path by a share of the way it goes (a figure
  that turns back to try again has not found a way), unless it begins looking
  the wrong way.
- What a stage leads to is rounded to 2^-30, about 10^-9, of its units, and so
  is the largest rate: a body falls away from what differs in the last bit, e
  times as far in a third of a second, so that machines whose sines differ there
  would go other ways after ten seconds. As it is, they start each stage from the
  same numbers and find ties alike, unless a number of the way taken lies within
  a few last bits of where rounding turns, one in 10^5 at 100 m from the origin.
- Among plans of equal cost the one with the smaller rate in the first stage
  in which they differ is taken, and to the left before to the right.

`Planner.plan` expands the best nodes many at a time in numpy.
`Planner.plan_plainly` is the algorithm of the paper's Fig. 14, one node at a
time, by the same `Planner.expand`. Both find the same plan.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import SettingError
from ..turning.pendulum import effective_length
from ..turning.settings import STOP_SPEED
from .course import Course
from .descent import descend
from .levels import Sheets
from .lookahead import FallTable
from .nodes import (
    ALONG,
    CODE,
    COST,
    CURVATURE,
    GATE,
    MOVING,
    OMEGA,
    PARENT,
    PSI,
    RATE,
    SEGMENT,
    SPEED,
    STAGE,
    THETA,
    Tree,
    X,
    Y,
)
from .obstacles import Gate, ObstacleField
from .settings import PathSettings, SpeedCourse
from .stages import StageMotion, lean_acceleration, simulate
from .terrain import Field

GRAIN = 2.0**-30  # of what nodes hold, in m, rad, rad/s and m/s, and of the largest rate
ROUNDED = [X, Y, PSI, THETA, OMEGA, ALONG, SPEED]  # as costs are; the rest are steps of rates

LEAN_MARGIN = 5e-4  # rad; the peak of a cubic is not quite that of the lean
SPACE_MARGIN = 1e-4  # m; nor is a parabola quite the track
BROAD = 512  # nodes of a stage that go on where whole plans are rare
CHEAP = 160  # of them, the cheapest; the others are the best in balance
# What makes them alike: columns, and differences, in m, rad, rad/s and 1/m.
ALIKE = np.array([(X, 1.0), (Y, 1.0), (PSI, 0.2), (THETA, 0.2), (OMEGA, 0.6), (CURVATURE, 0.08)])
USEFUL = 1.0  # of the curvature of a steady turn at the lean limit, changed in a stage
SLOW = 1.0  # m/s; the curvature of a steady turn is not looked for at less
LOOKING_BACK = -0.2  # cosine of the angle from the path beyond which a figure has to turn first
LOOKING_ON = 0.5  # the same at the end of a plan that has got past what there was no way past
LATE = 0.6  # s before a plan's end; gates that it would come to sooner are passed by it
FELL, HIT, MISSED, BOUND, OFF, STOOD = 1, 2, 3, 4, 5, 6  # why a child is dropped


@dataclass(frozen=True)
class GateLine:
    """A gate as the search sees it.

    Attributes:
        pole: (2,) the first pole, m.
        across: (2,) unit vector from the first to the other pole.
        ahead: (2,) unit vector through the gate, the way the path goes.
        width: distance of the poles, m.
        along: arc length of the path at the gate, m.
        distance: distance of the gate's middle from the path, m.
    """

    pole: np.ndarray
    across: np.ndarray
    ahead: np.ndarray
    width: float
    along: float
    distance: float


@dataclass(frozen=True)
class Plan:
    """The best plan from a state.

    Attributes:
        cost: sum of the distances, and of the effort, m.
        choices: number of the rate taken in each stage, in `Planner.rates`.
        floats: (stages + 1, 10) the states at the stages' ends, columns X to
            COST, the start first.
        ints: (stages + 1, 5) columns SEGMENT to PARENT.
        complete: False if no plan is whole; then this is the one that comes
            furthest along the path.
        optimal: False if the search was cut short.
        expanded: number of nodes expanded.
    """

    cost: float
    choices: tuple[int, ...]
    floats: np.ndarray
    ints: np.ndarray
    complete: bool
    optimal: bool
    expanded: int


@dataclass(frozen=True)
class Children:
    """What an expansion leaves.

    Attributes:
        floats: (10, n) columns X to COST.
        ints: (5, n) columns SEGMENT to PARENT; PARENT is the row of the
            parent among those expanded.
        dropped: how many were dropped for each reason: FELL to STOOD.
        blame: numbers of obstacles that were hit, or gates that were missed
            (as -1 - gate), one for each such child.
    """

    floats: np.ndarray
    ints: np.ndarray
    dropped: np.ndarray
    blame: np.ndarray


def make_gates(
    gates: Sequence[Gate], course: Course, ground: Field | None = None, offset: float = 0.0
) -> list[GateLine]:
    """Find where along the path gates stand and which way they are passed.

    Each gate belongs to the nearest point of the path not before the gate
    before it; on several levels, if there is any, on that of the gate.

    Args:
        gates: in the order in which they are to be passed.
        course: the path.
        ground: the terrain, or None.
        offset: as for `Planner`.

    Returns:
        One line per gate.

    Raises:
        SettingError: both poles stand in one place.
    """
    lines = []
    last = 0.0
    for number, gate in enumerate(gates, 1):
        a = np.asarray(gate.left, dtype=float)[:2]
        b = np.asarray(gate.right, dtype=float)[:2]
        width = float(np.hypot(*(b - a)))
        if not width > 2.0 * gate.radius + 1e-6:
            name = f'gate "{gate.name}"' if gate.name else f"gate {number}"
            raise SettingError(
                f"Gate Width of {name}", f"{width:g} m", "more than the thickness of its poles"
            )
        middle = 0.5 * (a + b)
        rows = np.flatnonzero((course.along < course.length) & (course.along >= last - 1e-9))
        if not len(rows):
            rows = np.array([max(0, int(np.searchsorted(course.along, course.length)) - 1)])
        rows = np.unique(np.concatenate((rows, [max(0, rows[0] - 1)])))
        n = len(rows)
        x, y = np.full(n, middle[0]), np.full(n, middle[1])
        d, s = course.distance_to_segment(x, y, rows, np.full(n, last))
        if isinstance(ground, Sheets):
            ends = np.array([gate.left, gate.right], dtype=float)
            here = ground.is_level(ends.mean(axis=0), course.along[rows] + offset)
            d = np.where(here, d, math.inf) if here.any() else d
        best = int(np.argmin(d))
        along = float(s[best])
        across = (b - a) / width
        ahead = np.array([-across[1], across[0]])
        if float(ahead @ course.direction[rows[best]]) < 0.0:
            ahead = -ahead
        lines.append(GateLine(a, across, ahead, width, along, math.sqrt(float(d[best]))))
        last = along
    return lines


class Planner:
    """Makes plans on one course with one set of settings.

    Args:
        course: the path.
        field: the obstacles, poles of gates among them.
        gates: from `make_gates`.
        settings: checked settings.
        speed: speed over time.
        falls: what is bound to fall, for at least as many stages; None where
            that is not known (over terrain).
        ground: the terrain, or None for level ground.
        edge: arc length of the path where terrain is no longer looked for, m:
            its end, or where it leaves the terrain for good.
        offset: arc length, m, of the path that the terrain was looked at for, where
            this one begins.
        useful: by how much the largest rate tried changes the curvature within
            a stage, as a multiple of that of a steady turn at the lean limit.
    """

    def __init__(
        self,
        course: Course,
        field: ObstacleField,
        gates: Sequence[GateLine],
        settings: PathSettings,
        speed: SpeedCourse,
        falls: FallTable | None,
        ground: Field | None = None,
        edge: float = math.inf,
        offset: float = 0.0,
        useful: float = USEFUL,
    ) -> None:
        self.course, self.field, self.settings, self.speed = course, field, settings, speed
        self.gates = list(gates)
        q = settings.values
        rates = np.linspace(-1.0, 1.0, q)
        rates = 0.5 * (rates - rates[::-1])  # left and right exactly alike
        order = sorted(range(q), key=lambda i: (abs(rates[i]), -rates[i]))
        self.shares = rates[order]
        self._smaller = np.full(q, -1)  # next smaller rate to the same side
        for i, share in enumerate(self.shares):
            for j in range(i):
                if self.shares[j] * share > 0.0 or self.shares[j] == 0.0:
                    self._smaller[i] = j
        self.step = settings.stage / settings.substeps
        self.beam = max(1, settings.batch // 4)
        self.limit = settings.max_lean - LEAN_MARGIN
        self.falls, self.ground, self.edge, self.useful = falls, ground, edge, useful
        self.offset = offset
        # Of each segment of the path, on which sheet of the terrain it lies.
        self._sheets = None if ground is None else ground.sheet_at(course.along + offset)
        self.given = settings.speed_mode == "KEYED"
        # One row more, behind the last gate, that is never met.
        n = len(self.gates)
        self._gate = np.zeros((8, n + 1))
        for i, gate in enumerate(self.gates):
            self._gate[:, i] = (
                *gate.pole,
                *gate.across,
                *gate.ahead,
                gate.width,
                gate.along,
            )
        self._gate[7, n] = np.inf
        self.recorded: list[tuple[np.ndarray, int]] = []
        self.record_left = 0
        self.tick: Callable[[], None] | None = None  # called between rounds; may raise

    def with_settings(self, settings: PathSettings, useful: float) -> Planner:
        """A planner in the same scene that looks further or tries more.

        Args:
            settings: others, as far as `falls` looks ahead.
            useful: see `Planner`.
        """
        other = Planner(
            self.course, self.field, self.gates, settings, self.speed, self.falls, self.ground,
            self.edge, self.offset, useful,
        )
        other.tick = self.tick
        return other

    def without_gates(self) -> Planner:
        """A planner in the same scene to whom gates are nothing but poles."""
        return Planner(
            self.course, self.field, (), self.settings, self.speed, self.falls, self.ground,
            self.edge, self.offset, self.useful,
        )

    # --- the start of a plan ---------------------------------------------------

    def root(
        self, state: np.ndarray, segment: int, gate: int, rate: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """A node to plan from.

        Args:
            state: (8,) columns X to SPEED; without the speed, that of the start.
            segment: segment of the path on which the nearest point lies.
            gate: number of the next gate.
            rate: rate of curvature in the stage before, 1/(m s).

        Returns:
            (10, 1) and (5, 1) arrays, as `expand` takes them.
        """
        floats = np.zeros((10, 1))
        floats[SPEED] = self.speed.first
        floats[: len(state), 0] = state
        floats[RATE] = rate
        return floats, np.array([[segment], [gate], [0], [0], [-1]], dtype=np.int64)

    def begin(self, time: float) -> None:
        """Look up what depends on the time for plans that begin then.

        Args:
            time: s from the start of the motion.
        """
        n = self.settings.stages * self.settings.substeps
        times = time + self.step * np.arange(n + 1)
        if not self.speed.constant:
            self._v = self.speed(time + 0.5 * self.step * np.arange(2 * n + 1))
        self._moving = self.field.moving_at(times)
        self._moving_on = self.field.moving_on(times)
        self.time = time

    def tree(self, floats: np.ndarray, ints: np.ndarray) -> Tree:
        """A tree that holds its root only.

        Args:
            floats: (10, 1) from `root`.
            ints: (5, 1) from `root`.
        """
        return Tree(floats, ints, self.settings.values)

    # --- expansion ---------------------------------------------------------------

    def expand(
        self, floats: np.ndarray, ints: np.ndarray, bound: float = math.inf, ahead: bool = True
    ) -> Children:
        """Simulate all children of some nodes and drop what is out of the question.

        Args:
            floats: (10, n) nodes, columns X to COST.
            ints: (5, n) columns SEGMENT to PARENT.
            bound: what costs more is dropped.
            ahead: True to drop what is bound to fall within the plan, too.

        Returns:
            The children left.
        """
        settings, q = self.settings, self.settings.values
        dropped = np.zeros(7, dtype=np.int64)
        # --- the controls, kept within the curvature limit ----------------------
        start, most = floats[CURVATURE], settings.max_curvature
        largest = self._largest_rate(ints[STAGE], floats[SPEED])
        reach = largest * settings.stage
        end = start[:, None] + self.shares * np.reshape(reach, (-1, 1))
        if (np.abs(start) + reach > most).any():
            np.minimum(np.maximum(end, -most, out=end), most, out=end)
            alike = np.zeros(end.shape, dtype=bool)
            for i, j in enumerate(self._smaller):
                if j >= 0:
                    alike[:, i] = end[:, i] == end[:, j]
            parent, choice = np.nonzero(~alike)
            end = end[parent, choice]
        else:
            parent, choice = self._all(len(start))
            end = end.ravel()
        state = floats[MOVING][:, parent]
        rate = (end - state[CURVATURE]) / settings.stage
        stage = ints[STAGE][parent]
        # --- the motion ------------------------------------------------------------
        speed: float | np.ndarray = self.speed.most
        if not self.speed.constant:
            rows = 2 * settings.substeps * stage
            speed = self._v[rows + np.arange(2 * settings.substeps + 1)[:, None]]
        sheet = self.sheet_of(ints[SEGMENT])
        sheet = sheet if sheet is None else sheet[parent]
        motion = self.move(state, rate, speed, self.limit, self.step, settings.substeps, sheet)
        kept = motion.kept
        dropped[FELL] = len(end) - len(kept)
        if ahead and self.falls is not None:
            lost = self.falls.lost(
                motion.theta[-1], motion.omega[-1], end[kept], settings.stages - 1 - stage[kept]
            )
        # --- distance from the path, bound, gates ---------------------------------
        parent, choice, end = parent[kept], choice[kept], end[kept]
        distance, segment, along = self.course.advance(
            motion.x[1:], motion.y[1:], ints[SEGMENT][parent], floats[ALONG][parent]
        )
        cost = floats[COST][parent]
        for row in distance:
            cost = cost + row
        if settings.effort > 0.0:
            most_rate = np.broadcast_to(largest, start.shape)[parent]
            change = (rate[kept] - floats[RATE][parent]) / most_rate
            cost = cost + settings.substeps * settings.effort * change * change
        cost = np.round(cost / GRAIN) * GRAIN  # as the bound is: equals stay equals
        gate = ints[GATE][parent]
        blame: list[np.ndarray] = []
        good = cost <= bound
        dropped[BOUND] = len(good) - int(np.count_nonzero(good))
        if ahead and self.falls is not None and lost.any():
            dropped[FELL] += int(np.count_nonzero(lost & good))
            good &= ~lost
        if motion.speed is not None:
            reached = motion.speed[-1]
        else:
            last = np.atleast_1d(speed)[-1]
            reached = np.broadcast_to(last, stage.shape)[kept]
        if motion.support is not None:
            off = good & ~motion.support & (along[-1] < self.edge)
            stood = good & ~off & (reached < STOP_SPEED)
            for lost, why in ((off, OFF), (stood, STOOD)):
                dropped[why] = int(np.count_nonzero(lost))
                good &= ~lost
            self._record(motion, np.flatnonzero(off), OFF)
        if self.gates:
            for i in range(settings.substeps):
                gate, missed = self.pass_gates(
                    motion.x[i], motion.y[i], motion.x[i + 1], motion.y[i + 1], gate, along[i]
                )
                missed &= good
                if missed.any():
                    dropped[MISSED] += int(np.count_nonzero(missed))
                    blame.append(-1 - gate[missed])
                    good &= ~missed
                    self._record(motion, np.flatnonzero(missed), MISSED)
        # --- obstacles -------------------------------------------------------------
        rows = np.flatnonzero(good)
        sheet = sheet if sheet is None else sheet[kept[rows]]
        hit = self._collisions(motion, rows, stage[kept[rows]], sheet)
        struck = hit >= 0
        if struck.any():
            dropped[HIT] = int(np.count_nonzero(struck))
            blame.append(hit[struck])
            self._record(motion, rows[struck], HIT)
            rows = rows[~struck]
        parent = parent[rows]
        result = np.empty((10, len(rows)))
        for column, value in (
            (X, motion.x[-1]),
            (Y, motion.y[-1]),
            (PSI, motion.psi[-1]),
            (THETA, motion.theta[-1]),
            (OMEGA, motion.omega[-1]),
            (CURVATURE, end),
            (ALONG, along[-1]),
            (SPEED, reached),
            (RATE, rate[kept]),
            (COST, cost),
        ):
            result[column] = value[rows]
        result[ROUNDED] = np.round(result[ROUNDED] / GRAIN) * GRAIN
        numbers = np.empty((5, len(rows)), dtype=np.int64)
        numbers[SEGMENT] = segment[-1][rows]
        numbers[GATE] = gate[rows]
        numbers[STAGE] = ints[STAGE][parent] + 1
        numbers[CODE] = ints[CODE][parent] * q + choice[rows]
        numbers[PARENT] = parent
        return Children(
            result,
            numbers,
            dropped,
            np.concatenate(blame) if blame else np.zeros(0, dtype=np.int64),
        )

    def move(
        self,
        state: np.ndarray,
        rate: np.ndarray,
        speed: float | np.ndarray,
        limit: float,
        step: float | np.ndarray,
        steps: int,
        sheet: np.ndarray | None = None,
    ) -> StageMotion:
        """Move figures on at constant rates of curvature, on what ground there is.

        Args:
            state: (7, n) rows X to CURVATURE and SPEED, as `MOVING` takes them.
            rate: (n,) 1/(m s).
            speed: as for `stages.simulate`; not used where terrain makes the speed.
            limit: rad.
            step: s.
            steps: how many.
            sheet: (n,) from `sheet_of`, by where the path is at the start.

        Returns:
            The motion.
        """
        if self.ground is None:
            return simulate(state[:6], rate, speed, self.settings, limit, step, steps)
        return descend(
            self.ground, state, rate, speed if self.given else None, self.settings, limit, step,
            steps, sheet,
        )

    def sheet_of(self, segment: np.ndarray) -> np.ndarray | None:
        """On which sheets of the terrain figures are; None where there is one only.

        Args:
            segment: (n,) int, segments of the path that are nearest to them.
        """
        return None if self._sheets is None else self._sheets[segment]

    def _largest_rate(self, stage: np.ndarray, speed: np.ndarray) -> float | np.ndarray:
        """Largest rate of curvature that is tried in stages, 1/(m s)."""
        settings = self.settings
        v: float | np.ndarray = self.speed.most
        if not self.given:
            v = np.maximum(speed, SLOW)
        elif not self.speed.constant:
            v = self._v[2 * settings.substeps * stage]
        turn = settings.gravity * math.tan(settings.max_lean) / (v * v)
        useful = np.maximum(np.floor(self.useful * turn / settings.stage / GRAIN), 1.0) * GRAIN
        return np.minimum(settings.max_curvature_rate, useful)

    @property
    def rates(self) -> np.ndarray:
        """(q,) rates of curvature tried in the first stage, 1/(m s), in the order of choice."""
        first = np.full(1, self.speed.first)
        return self.shares * self._largest_rate(np.zeros(1, dtype=np.int64), first)

    def _all(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Parents and choices if every choice is open to all."""
        q = self.settings.values
        return np.repeat(np.arange(n), q), np.tile(np.arange(q), n)

    def pass_gates(
        self,
        x0: np.ndarray,
        y0: np.ndarray,
        x1: np.ndarray,
        y1: np.ndarray,
        gate: np.ndarray,
        along: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Next gates after a step, and which steps pass one on the wrong side.

        Args:
            x0: (n,) start of the step, m.
            y0: (n,) likewise.
            x1: (n,) end of the step.
            y1: (n,) likewise.
            gate: (n,) int, number of the next gate.
            along: (n,) arc length of the path reached at the end, m.

        Returns:
            (n,) next gate after the step, and (n,) True where a gate was
            passed outside its poles, or left behind.
        """
        gate = gate.copy()
        missed = np.zeros(len(gate), dtype=bool)
        slack = self.course.window
        near = np.flatnonzero(along >= self._gate[7][gate] - slack)
        while len(near):
            g = gate[near]
            px, py, ax, ay, nx, ny, width, where = (column[g] for column in self._gate)
            ux, uy = x0[near] - px, y0[near] - py
            wx, wy = x1[near] - px, y1[near] - py
            before, after = ux * nx + uy * ny, wx * nx + wy * ny
            across = (before < 0.0) & (after >= 0.0)
            share = before / np.where(across, before - after, 1.0)
            at = (ux + share * (wx - ux)) * ax + (uy + share * (wy - uy)) * ay
            through = across & (at >= 0.0) & (at <= width)
            missed[near] |= (across & ~through) | (~across & (along[near] > where + slack))
            near = near[through]
            gate[near] += 1
            near = near[along[near] >= self._gate[7][gate[near]] - slack]
        return gate, missed

    def _collisions(
        self,
        motion: StageMotion,
        rows: np.ndarray,
        stage: np.ndarray,
        sheet: np.ndarray | None = None,
    ) -> np.ndarray:
        """Number of an obstacle that a child's track comes too near to, or -1."""
        count, n = self.settings.substeps, len(rows)
        if not n or not self.field.n_things:
            return np.full(n, -1, dtype=np.int64)
        xs, ys = motion.x[:, rows], motion.y[:, rows]
        # An arc lies within its sagitta, length^2 C / 8, of its chord.
        length = self.step * np.maximum(motion.foot[:-1, rows], motion.foot[1:, rows])
        bend = np.maximum(np.abs(motion.curvature[0, rows]), np.abs(motion.curvature[-1, rows]))
        reach = self.settings.clearance + SPACE_MARGIN + 0.125 * length * length * bend
        hit = self.field.hits(
            xs[:-1].ravel(), ys[:-1].ravel(), xs[1:].ravel(), ys[1:].ravel(), reach.ravel(),
            sheet if sheet is None else np.tile(sheet, count),
        ).reshape(count, n)
        if self.field.moving:
            step = stage * count + np.arange(count)[:, None]
            moving = self.field.hits_moving(
                xs[:-1], ys[:-1], xs[1:], ys[1:], reach, self._moving, step, self._moving_on, sheet
            )
            hit = np.where(hit < 0, moving, hit)
        result = hit[-1]
        for row in hit[-2::-1]:
            result = np.where(row >= 0, row, result)
        return result

    def _record(self, motion: StageMotion, rows: np.ndarray, why: int) -> None:
        """Keep some rejected tracks for drawing."""
        rows = rows[: self.record_left]
        self.record_left -= len(rows)
        for row in rows:
            self.recorded.append((np.stack((motion.x[:, row], motion.y[:, row]), axis=1), why))

    # --- the search ----------------------------------------------------------------

    def plan(self, tree: Tree, time: float) -> Plan:
        """Find the best plan, many nodes at a time.

        Until a whole plan is known, the cheapest nodes of the latest stage
        are expanded next; then those that cost least, until none is left that
        could be better. Nodes that an earlier plan has left in the tree are
        not made again.

        Args:
            tree: from `tree`, or what `Tree.move_on` has left of it.
            time: when the plan begins, s.

        Returns:
            The plan. If none is whole, the one that comes furthest along the
            path.
        """
        self.begin(time)
        last, batch = self.settings.stages, self.settings.batch
        expanded, optimal = 0, True
        while True:
            cost, stage = tree.floats[: tree.count, COST], tree.ints[: tree.count, STAGE]
            whole = self._whole(tree)
            bound = float(cost[whole].min()) if len(whole) else math.inf
            waiting = np.flatnonzero(tree.open[: tree.count] & (stage < last) & (cost <= bound))
            if not len(waiting):
                break
            if expanded >= self.settings.most_nodes:
                optimal = False
                break
            if not len(whole):
                depth = stage[waiting]
                waiting = waiting[depth == depth.max()]
            most = batch if len(whole) else self.beam
            if len(waiting) > most:
                waiting = waiting[np.argpartition(cost[waiting], most)[:most]]
            if self.tick is not None:
                self.tick()
            expanded += len(waiting)
            children = self.expand(*tree.get(waiting))
            tree.open[waiting] = False
            children.ints[PARENT] = waiting[children.ints[PARENT]]
            tree.add(children.floats, children.ints)
        leaf = tree.best(whole) if len(whole) else tree.furthest()
        return self._make_plan(*tree.chain(leaf), bool(len(whole)), optimal, expanded)

    def plan_plainly(self, floats: np.ndarray, ints: np.ndarray, time: float) -> Plan:
        """Find the best plan one node at a time, as in the paper's Fig. 14.

        Args:
            floats: (10, 1) from `root`.
            ints: (5, 1) from `root`.
            time: when the plan begins, s.

        Returns:
            The plan, as `plan` gives it.
        """
        self.begin(time)
        tree = self.tree(floats, ints)
        queue = [(0.0, 0, 0, 0)]  # cost, stage, code, row
        bound, best, expanded = math.inf, -1, 0
        while queue:
            cost, _, _, row = heapq.heappop(queue)
            if cost > bound:
                break
            expanded += 1
            children = self.expand(*tree.get(np.array([row])), bound, ahead=False)
            children.ints[PARENT] = row
            first = tree.add(children.floats, children.ints)
            whole = set(self._whole(tree, first).tolist())
            costs, codes = children.floats[COST].tolist(), children.ints[CODE].tolist()
            for i, key in enumerate(zip(costs, codes, strict=True)):
                stage = int(children.ints[STAGE, i])
                if stage < self.settings.stages:
                    heapq.heappush(queue, (key[0], stage, key[1], first + i))
                elif first + i not in whole:
                    continue
                elif best < 0 or key < (tree.floats[best, COST], tree.ints[best, CODE]):
                    best, bound = first + i, key[0]
        leaf = best if best >= 0 else tree.furthest()
        return self._make_plan(*tree.chain(leaf), best >= 0, True, expanded)

    def plan_broadly(self, floats: np.ndarray, ints: np.ndarray, time: float) -> Plan:
        """Find a good plan where whole ones are rare, stage by stage.

        `plan` looks at the latest stage first until one is whole, and gets
        lost in what follows on a wrong turn where few are. Here all nodes of a
        stage are expanded together, and of the children those that are nearly
        alike are represented by the cheapest: no more than `BROAD` go on, the
        cheapest, and those that are most nearly in balance, which the cheapest
        before a sharp turn seldom are.

        Args:
            floats: (10, 1) from `root`.
            ints: (5, 1) from `root`.
            time: when the plan begins, s.

        Returns:
            The plan, not always the best, without its choices. If none is
            whole, the one that comes furthest along the path.
        """
        self.begin(time)
        tree = self.tree(floats, ints)
        expanded, rows = 0, np.zeros(1, dtype=np.int64)
        for _ in range(self.settings.stages):
            if self.tick is not None:
                self.tick()
            expanded += len(rows)
            children = self.expand(*tree.get(rows))
            children.ints[PARENT] = rows[children.ints[PARENT]]
            order = np.lexsort((children.ints[CODE], children.floats[COST]))
            cells = np.floor(children.floats[ALIKE[:, 0].astype(int)] / ALIKE[:, 1:])
            cells = np.concatenate((cells, children.ints[[GATE]]))[:, order]
            kept = order[np.sort(np.unique(cells, axis=1, return_index=True)[1])]
            others = kept[CHEAP:]
            calm = np.argsort(self._imbalance(children.floats[:, others]), kind="stable")
            kept = np.concatenate((kept[:CHEAP], others[np.sort(calm[: BROAD - CHEAP])]))
            # Codes of many stages would be too large: their order is enough.
            children.ints[CODE, kept] = np.argsort(np.argsort(children.ints[CODE, kept]))
            start = tree.add(children.floats[:, kept], children.ints[:, kept])
            rows = np.arange(start, tree.count)
            if not len(rows):
                break
        whole = self._whole(tree)
        whole = whole[self._ahead(tree.floats[whole], tree.ints[whole]) >= LOOKING_ON]
        leaf = tree.best(whole) if len(whole) else tree.furthest()
        plan = self._make_plan(*tree.chain(leaf), bool(len(whole)), False, expanded)
        return replace(plan, choices=())

    def _imbalance(self, floats: np.ndarray) -> np.ndarray:
        """How quickly nodes would fall without steering, on level ground, rad.

        With lambda = sqrt(g / J), the part of theta + theta' / lambda beyond
        the lean in balance with the curvature grows by exp(lambda t).
        """
        settings = self.settings
        j = effective_length(settings.mass, settings.height, settings.inertia)
        fall = math.sqrt(settings.gravity / j)
        alpha = lean_acceleration(floats[THETA], floats[CURVATURE], floats[SPEED], settings)
        return np.abs(floats[OMEGA] / fall + alpha / fall**2)

    def _whole(self, tree: Tree, first: int = 0) -> np.ndarray:
        """Rows, from `first` on, of the ends of plans that are whole.

        They are all their stages long, get far enough along the path, and pass
        the gates that they would come to straight on, but for the last `LATE`: who
        swerves before a gate has not found a way, and will not.
        """
        floats, ints = tree.floats[: tree.count], tree.ints[: tree.count]
        rows = first + np.flatnonzero(ints[first:, STAGE] == self.settings.stages)
        goal = self._goal(floats[0], int(ints[0, SEGMENT]))
        rows = rows[floats[rows, ALONG] >= goal]
        if self.gates and goal > 0.0:
            speed = 0.5 * (floats[0, SPEED] + floats[rows, SPEED])
            way = (self.settings.stages * self.settings.stage - LATE) * speed
            met = np.searchsorted(self._gate[7], floats[0, ALONG] + way, side="right")
            rows = rows[ints[rows, GATE] >= met]
        return rows

    def _ahead(self, floats: np.ndarray, ints: np.ndarray) -> np.ndarray:
        """Cosine of the angle from the path to where nodes look."""
        direction = self.course.direction[ints[:, SEGMENT]]
        psi = floats[:, PSI]
        return np.sin(psi) * direction[:, 0] - np.cos(psi) * direction[:, 1]

    def _goal(self, root: np.ndarray, segment: int) -> float:
        """How far along the path a whole plan has to get, m."""
        if self._ahead(root[None], np.array([[segment]]))[0] < LOOKING_BACK:
            return 0.0
        least = self.speed.least
        if not self.given:
            least = min(max(least, 0.5 * root[SPEED]), root[SPEED])
        way = self.settings.stage * self.settings.stages * least
        return float(root[ALONG]) + self.settings.least_progress * way

    def why(self, tree: Tree) -> Children:
        """What drops the children of the nodes that come furthest.

        Args:
            tree: as the search has left it, without a whole plan.

        Returns:
            The expansion of up to 512 of them, for `dropped` and `blame`.
        """
        along = tree.floats[: tree.count, ALONG]
        order = np.argsort(-along, kind="stable")
        order = order[tree.ints[order, STAGE] < self.settings.stages][:512]
        near = order[along[order] >= along[order[0]] - self.course.window]
        return self.expand(*tree.get(near))

    def _make_plan(
        self, floats: np.ndarray, ints: np.ndarray, complete: bool, optimal: bool, expanded: int
    ) -> Plan:
        code, choices = int(ints[-1, CODE]), []
        for _ in range(len(floats) - 1):
            code, choice = divmod(code, self.settings.values)
            choices.append(choice)
        return Plan(
            cost=float(floats[-1, COST]),
            choices=tuple(reversed(choices)),
            floats=floats,
            ints=ints,
            complete=complete,
            optimal=optimal,
            expanded=expanded,
        )
