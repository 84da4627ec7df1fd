# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that are in their poses on time, whatever happens to them on the way.

The torques of the joints are those of inverse dynamics for the law of each (arrive.py),
so that a figure left alone moves by that law exactly; what else acts on it - the
acceleration of what carries it, weight that is felt, drag, pushes - is not cancelled and
shows as u = M^-1 Q on top of the law. Within a step u counts as constant, at its value in
the step's middle; a constant u moves the set-point by u / w^2, so that a step of the law
is exact however long it is, and the whole is of second order where something acts. A ball
that hits a limb changes all rates at once.

Joints that are held, with none on its way, feel the figure's own coupling, too. Where they
trail, as along a tail, each one's torque answers for itself and all that hangs on it as one
body instead, so that it feels how those move that it hangs on.

After a hit, and in every step in which something acts, gain and set-point are found anew
from the state as it then is, for the time that is left. That time is not let go below two
steps: nearer to the pose the gain stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotations
from ..dynamics import (
    Figure,
    Places,
    Pose,
    State,
    along,
    bias_forces,
    carried_forces,
    generalised,
    mass_matrix,
    moving,
    places,
    pose,
)
from ..dynamics.carrying import Carrying
from ..dynamics.collide import Contact, Flight, gaps, impulse, touching
from ..dynamics.disturbances import Ball, Push, Shake
from ..dynamics.exponential import apply, inverse_jacobian, jacobian
from ..errors import SettingError
from .arrive import aim, rest_phase, start_from_set_point
from .gain import response
from .settings import Body, PoseSettings, Target

LONGEST = 1.0 / 200.0
"""s that a step takes at most."""

WHIPPED = 0.06
"""rad that a held joint turns by in a step at most, down to a sixteenth of a step."""

FASTEST = 200.0
"""rad/s, beyond which no joint is driven: a pitcher's shoulder turns at 120."""


@dataclass(frozen=True)
class Arrival:
    """How a target was met.

    Attributes:
        target: index of the target.
        error: (n,) angle between where the joints were and the pose, rad; 0 for those
            it is not for.
        allowed: (n,) whether the tension allowed a gain when the joints set out.
        way: (n, 3) from where they set out to the pose, rad.
        rate: (n, 3) with which they set out, rad/s.
        time: s that they had.
        later: (n,) whether there was a gain whenever one was looked for on the way.
    """

    target: int
    error: np.ndarray
    allowed: np.ndarray
    way: np.ndarray
    rate: np.ndarray
    time: float
    later: np.ndarray


@dataclass(frozen=True)
class PoseMotion:
    """What the joints do; one sample for each frame.

    Attributes:
        times: (f,) s.
        turns: (f, n, 4) turns of the links against their parents, from rest.
        spins: (f, n, 3) against the parents, in the links' frames, rad/s.
        arrivals: one for each target within the frames.
        hits: of balls.
        flights: (f, b, 3) where the balls are, in space, m; nan before they are let go.
        stops: (time, joint) where a joint ran into its limit.
    """

    times: np.ndarray
    turns: np.ndarray
    spins: np.ndarray
    arrivals: tuple[Arrival, ...]
    hits: tuple[Contact, ...]
    flights: np.ndarray
    stops: tuple[tuple[float, int], ...]


def simulate(
    body: Body,
    start: np.ndarray,
    spins: np.ndarray,
    targets: Sequence[Target],
    frames: int,
    frame_time: float,
    settings: PoseSettings,
    carried: Callable[[np.ndarray], Carrying],
    disturbances: Sequence[Ball | Push | Shake] = (),
    held: np.ndarray | None = None,
    progress: Callable[[float], None] | None = None,
) -> PoseMotion:
    """Move a figure through its targets.

    Args:
        body: what moves.
        start: (n, 4) turns of the links against their parents at the start, from rest.
        spins: (n, 3) in the links' frames, rad/s.
        targets: poses in the order of their times.
        frames: how many, the first at time 0.
        frame_time: s from one frame to the next.
        settings: how the joints are controlled.
        carried: (m,) times -> how what carries the figure moves at them.
        disturbances: balls, pushes, and shakes of the carrier.
        held: (f, n, 4) poses to which joints are held before their first target, or
            without any; None holds them to the start.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        The motion.
    """
    previous = 0.0
    for target in targets:
        if not target.time > previous:
            raise SettingError("Time of a target", target.time, f"later than {previous} s")
        previous = target.time
    steps = settings.steps_per_frame or int(np.ceil(frame_time / LONGEST - 1e-9))
    count = (frames - 1) * steps
    h = frame_time / steps
    # What carries the figure, in the middles of all steps and at the end.
    times = np.append(h * (np.arange(count) + 0.5), h * count)
    carrier = carried(times)
    for shake in (x for x in disturbances if isinstance(x, Shake)):
        felt = rotations.rotate(rotations.conjugate(carrier.turns), shake.acceleration(times))
        carrier = carrier._replace(accelerations=carrier.accelerations + felt)
    run = _Run(body, start, spins, targets, settings, carrier, disturbances, h)
    n = len(body.figure.parents)
    references, angles, rates = (np.empty((frames, n, width)) for width in (4, 3, 3))
    flights = np.empty((frames, len(run.flight.balls), 3))
    for frame in range(frames):
        if frame:
            first = (frame - 1) * steps
            poses = held[frame - 1 : frame + 1] if held is not None and run.base.any() else None
            if poses is not None and np.array_equal(*poses):
                run.hold_to(poses[1])
                poses = None
            if poses is None:
                run.go(first, first + steps)
            else:
                share = (np.arange(steps) + 0.5) / steps
                for k, between in enumerate(rotations.slerp(poses[0], poses[1], share[:, None])):
                    run.hold_to(between)
                    run.step(first + k)
        references[frame], angles[frame], rates[frame] = run.references, run.angles, run.rates
        flights[frame] = run.flight.seen()
        if progress is not None and frame % 16 == 0:
            progress(frame / frames)
    return PoseMotion(
        frame_time * np.arange(frames),
        *_turns_and_spins(body.figure, references, angles, rates),
        tuple(run.arrivals), tuple(run.hits), flights, tuple(run.stops),
    )


class _Run:
    """The figure at one instant, and what its joints are doing."""

    def __init__(
        self,
        body: Body,
        start: np.ndarray,
        spins: np.ndarray,
        targets: Sequence[Target],
        settings: PoseSettings,
        carrier: Carrying,
        disturbances: Sequence[Ball | Push | Shake],
        h: float,
    ) -> None:
        self.body, self.figure, self.settings, self.h = body, body.figure, settings, h
        self.carrier, self.targets = carrier, tuple(targets)
        self.pushes = [x for x in disturbances if isinstance(x, Push)]
        weight = carrier.turns[0], carrier.gravity[0]
        self.flight = Flight(
            [x for x in disturbances if isinstance(x, Ball)], rotations.rotate(*weight)
        )
        # Whether anything but laws and pushes acts in a step.
        felt = (carrier.accelerations, carrier.spins, carrier.spin_rates)
        self.acting = np.max([np.abs(x).max(axis=1) for x in felt], axis=0) > 1e-9
        self.acting |= settings.gravity > 0.0 or settings.drag > 0.0 or settings.trailing
        self.reach = _reach(body)
        self.switches = np.array([time for x in self.pushes for time in (x.start, x.end)])
        n = len(self.figure.parents)
        self.moves = self.figure.axes.any(axis=(1, 2))
        # Balls without limits count their angles from the pose they go to, so that any pose
        # is within half a turn; all others from rest.
        self.ball = self.figure.axes.any(axis=2).all(axis=1)
        self.limits = body.limits
        if self.limits is not None:
            self.ball &= ~np.isfinite(self.limits).any(axis=(1, 2))
        self.time = 0.0
        self.references = np.where(self.ball[:, None], start, rotations.identity(n))
        self.frames = rotations.to_matrix(self.references)
        self.held = np.full((n, 4), np.nan)  # the poses that joints were held to last
        self.angles = self._angles(start)
        self.rates = self._rates(self.angles, spins)
        self.ratio = np.full(n, settings.ratio)
        self.rest = rest_phase(settings.tension, self.ratio)
        self.goals = self.angles.copy()
        self.set_point = self.angles.copy()
        self.responses: dict[float, tuple[np.ndarray, ...]] = {}
        self.frequency = np.full(n, settings.frequency) if settings.frequency else (
            self.rest / settings.settle)
        self.arrival = np.full(n, np.inf)
        self.heading = np.full(n, -1)  # index of the target that a joint is on its way to
        self.base = np.ones(n, bool)  # held to the poses of `held`
        self.free_from = np.zeros(n)  # when it may set out again
        self.done = np.full(n, -1)
        self.later = np.ones(n, bool)
        self.set_outs: dict[int, dict[str, np.ndarray]] = {}
        self.u = np.zeros((n, 3))  # what acted besides the law in the step before
        self.disturbed = False
        self.knocked = False  # by a ball, at the end of the last step
        self.into = rotations.to_matrix(carrier.turns)
        self.arrivals: list[Arrival] = []
        self.hits: list[Contact] = []
        self.stops: list[tuple[float, int]] = []
        self.set_out()
        self.next = self._next()

    # Coordinates

    def _vector(self, turns: np.ndarray) -> np.ndarray:
        """(n, 3) rotation vectors of turns against the references."""
        return rotations.to_rotation_vector(
            rotations.multiply(rotations.conjugate(self.references), turns)
        )

    def _angles(self, turns: np.ndarray) -> np.ndarray:
        return apply(self.figure.axes, self._vector(turns))

    def _rates(self, angles: np.ndarray, spins: np.ndarray) -> np.ndarray:
        x = (angles[:, None, :] @ self.figure.axes)[:, 0]
        return apply(self.figure.axes, apply(inverse_jacobian(x), spins))

    def turns_and_spins(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 4) turns from rest, and (n, 3) spins in the links' frames, against the parents."""
        return _turns_and_spins(self.figure, self.references, self.angles, self.rates)

    def _refer(self, joints: np.ndarray, goals: np.ndarray) -> None:
        """Count the angles of `joints` that are balls from `goals`, (n, 4), and aim there."""
        moved = (joints & self.ball)[:, None]
        if moved.any():
            turns, spins = self.turns_and_spins()
            self.references = np.where(moved, goals, self.references)
            self.frames = rotations.to_matrix(self.references)
            angles = self._angles(turns)
            self.angles = np.where(moved, angles, self.angles)
            self.rates = np.where(moved, self._rates(angles, spins), self.rates)
        # A ball's angles count from its goal.
        wanted = np.zeros_like(self.angles) if self.ball.all() else self._angles(goals)
        if self.limits is not None:
            wanted = np.clip(wanted, self.limits[:, :, 0], self.limits[:, :, 1])
        self.goals = np.where(joints[:, None], wanted, self.goals)

    # What the joints are after

    def hold_to(self, poses: np.ndarray) -> None:
        """Hold joints that have had no target yet to (n, 4) poses."""
        if self.base.any() and not np.array_equal(poses, self.held):
            self._refer(self.base, poses)
            self.set_point = np.where(self.base[:, None], self.goals, self.set_point)
            self.held = poses

    def set_out(self) -> None:
        """Let joints that may set out for their next targets."""
        for index, target in enumerate(self.targets):
            going = (
                target.joints & self.moves & (self.heading < 0) & (self.done < index)
                & (self.free_from <= self.time) & (target.time > self.time)
            )
            if not going.any():
                continue
            self.base &= ~going
            self._refer(going, target.turns)
            self.heading[going], self.arrival[going] = index, target.time
            self.later[going] = True
            count = self.aim(going)
            kept = self.set_outs.setdefault(
                index,
                {
                    "allowed": np.ones(len(going), bool),
                    "way": np.zeros_like(self.goals),
                    "rate": np.zeros_like(self.goals),
                    "time": np.full(1, target.time - self.time),
                },
            )
            kept["allowed"][going] = count[going] > 0
            kept["way"][going] = (self.goals - self.angles)[going]
            kept["rate"][going] = self.rates[going]

    def aim(self, joints: np.ndarray) -> np.ndarray:
        """Find gain and set-point of `joints` from where they are; (n,) how many gains there are.

        Joints whose gain is fixed aim at the pose itself. In the last two steps, and of
        under-damped joints once they are on their way, the gain stays and the set-point
        alone leads to the pose.
        """
        count = np.ones(len(joints), int)
        if self.settings.frequency:
            self.set_point = np.where(joints[:, None], self.goals, self.set_point)
            return count
        i = np.flatnonzero(joints)
        way, rate = (self.goals - self.angles)[i], self.rates[i]
        left = np.maximum(self.arrival[i] - self.time, 2.0 * self.h)
        found = aim(
            way, rate, left, self.settings.tension, self.ratio[i], self.settings.firm, self.rest[i]
        )
        count[i] = found.count
        self._tune(i, found.frequency)
        self.set_point[i] = self.angles[i] - found.offset
        return count

    def aim_again(self) -> None:
        """After a disturbance: new gains for all joints that are on their way."""
        going = (self.heading >= 0) & (self.arrival - self.time >= 2.0 * self.h)
        if not self.settings.recompute or self.settings.frequency or not going.any():
            return
        if self.settings.ratio == 1.0:
            self.later &= (self.aim(going) > 0) | ~going
            return
        i = np.flatnonzero(going)
        left = self.arrival[i] - self.time
        offset = start_from_set_point(
            (self.goals - self.angles)[i], self.rates[i], left, self.frequency[i] * left,
            self.ratio[i],
        )
        self.set_point[i] = self.angles[i] - offset

    def _arrive(self) -> None:
        """Joints whose time has come are held where they were to be."""
        came = (self.heading >= 0) & (self.arrival <= self.time + 1e-12)
        for index in np.unique(self.heading[came]):
            target, mine = self.targets[index], came & (self.heading == index)
            off = rotations.multiply(
                rotations.conjugate(target.turns), self.turns_and_spins()[0]
            )
            error = np.sqrt((rotations.to_rotation_vector(off) ** 2).sum(axis=1))
            kept = self.set_outs.pop(index)
            self.arrivals.append(
                Arrival(
                    int(index), np.where(mine, error, 0.0), kept["allowed"], kept["way"],
                    kept["rate"], float(kept["time"][0]), self.later.copy(),
                )
            )
            self.heading[mine], self.arrival[mine], self.done[mine] = -1, np.inf, index
            self.free_from[mine] = self.time + target.hold
            if not self.settings.frequency:
                self._tune(mine, (self.rest / self.settings.settle)[mine])
            self.set_point[mine] = self.goals[mine]

    # Time

    def _tune(self, joints: np.ndarray, frequency: np.ndarray) -> None:
        self.frequency[joints] = frequency
        self.responses.clear()

    @property
    def loose(self) -> bool:
        """Whether no joint is on its way.

        The figure's own coupling is cancelled for the sake of poses on time alone: links that
        do not move on each other's account could draw any energy from what carries them.
        """
        return not (self.heading >= 0).any()

    def go(self, first: int, last: int) -> None:
        """Steps from one to before another; those in which laws alone act as one: they are exact
        over any time."""
        while first < last:
            number, touches = self._ahead(first, last)
            self.step(number, touches)
            first = number + 1

    def _ahead(self, first: int, last: int) -> tuple[int, bool]:
        """The step up to whose end the joints' laws alone act, and whether a ball may touch a
        limb then."""
        until = self.h * last
        if (
            self.knocked  # and likely to be hit again
            or self.limits is not None
            or self.acting[first:last].any()
            or any(x.start < until and x.end > self.time for x in self.pushes)
        ):
            return first, True
        if not self.flight.balls:
            return last - 1, False
        times = self.h * np.arange(first + 1, last + 1)
        balls, velocities = self.flight.at(times)
        near = self._within_reach(balls - self.carrier.places[first:last, None])
        if not near.any():
            return last - 1, False
        if self.disturbed or self.next < times[0]:
            return first, True
        known = int((times <= self.next).sum())
        steps, ball = np.flatnonzero(near[:known].any(axis=1)), near[:known].any(axis=0)
        if len(steps):
            hit = self._hits(
                first + steps, times[steps], balls[steps][:, ball], velocities[steps][:, ball],
                self.flight.radii[ball],
            )
            if hit.any():
                return first + int(steps[np.argmax(hit)]), True
        return first + known - 1, False

    def _hits(
        self, steps: np.ndarray, times: np.ndarray, balls: np.ndarray, velocities: np.ndarray,
        radii: np.ndarray,
    ) -> np.ndarray:
        """(m,) whether at the ends of steps a ball, of (m, b, 3) places and velocities, runs into
        a limb where the laws alone lead the joints."""
        angles, rates = self._law((times - self.time)[:, None, None])
        at, carrier = places(self.figure, angles, self.frames), self.carrier
        tips = at.joints + apply(at.turns, self.body.tips)
        balls = (balls - carrier.places[steps, None]) @ self.into[steps]
        gap, offset, share = gaps(self.body.radii, balls, radii, at.joints, tips)
        hits = np.zeros(len(steps), bool)
        k, b = np.nonzero((gap < 0.0).any(axis=2))
        if not len(k):
            return hits
        at, steps, link = Places(*(x[k] for x in at)), steps[k], np.argmin(gap[k, b], axis=1)
        spins, motion = moving(self.figure, at, rates[k])
        row = np.arange(len(k))
        normal = rotations.normalise(offset[k, b, link])
        joints = at.joints[row, link]
        point = joints + share[k, b, link, None] * (tips[k, link] - joints)
        point = point + self.body.radii[link, None] * normal
        limb = motion[row, link] + carrier.velocities[steps]
        limb = limb + rotations.cross(spins[row, link] + carrier.spins[steps], point)
        ball = (velocities[k, b][:, None] @ self.into[steps])[:, 0]
        hits[k[rotations.dot(ball - limb, normal) < 0.0]] = True
        return hits

    def _within_reach(self, balls: np.ndarray) -> np.ndarray:
        """(...) whether balls (..., 3) from the carrier's origin could touch a limb."""
        return rotations.dot(balls, balls) < (self.reach + self.flight.radii) ** 2

    def _next(self) -> float:
        """When a joint arrives, may set out, or a push begins or ends."""
        events = np.concatenate([self.arrival, self.free_from, self.switches])
        return float(events[events > self.time + 1e-12].min(initial=np.inf))

    def step(self, number: int, touches: bool = True) -> None:
        """One step, or several to the end of that one, parted where anything begins within."""
        end = self.h * (number + 1)
        while self.time < end - 1e-12:
            until = self.next if self.next < end - 1e-12 else end
            if self.acting[number] and self.loose:
                # What whips about is looked at as often as it turns by a little.
                turning = np.abs(self.rates).max()
                shortest = max(self.h / 16.0, WHIPPED / max(turning, 1e-9))
                if self.time + shortest < until - 1e-12:
                    until = self.time + shortest
            self._advance(number, until)
            if self.next <= self.time + 1e-12:
                self._arrive()
                self.set_out()
                self.next = self._next()
        self.time = end
        self.flight.advance(end)
        if touches:
            self._collide(number)

    def _pose(self, angles: np.ndarray, rates: np.ndarray) -> Pose:
        return pose(self.figure, State(angles, rates, self.frames))

    def _law(
        self, time: float | np.ndarray, u: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Angles and rates of the law a time later, under a constant acceleration on top."""
        if isinstance(time, float):
            key = round(time, 12)  # the same for steps that are as long but for rounding
            if key not in self.responses:
                self.responses[key] = response(self.frequency[:, None], self.ratio[:, None], time)
            answer = self.responses[key]
        else:
            answer = response(self.frequency[:, None], self.ratio[:, None], time)
        from_start, from_rate, rate_from_start, rate_from_rate = answer
        centre = self.set_point + u / self.frequency[:, None] ** 2
        x = self.angles - centre
        return (
            centre + x * from_start + self.rates * from_rate,
            x * rate_from_start + self.rates * rate_from_rate,
        )

    def _advance(self, number: int, until: float) -> None:
        h = until - self.time
        pushed = [x for x in self.pushes if x.start < until and x.end > self.time]
        if self.acting[number] or pushed:
            self.aim_again()
            # Where the middle is takes the acceleration of the step before.
            self.u = self._accelerations(number, *self._law(0.5 * h, self.u), pushed)
            self.angles, self.rates = self._law(h, self.u)
            self.disturbed = True
        else:
            if self.disturbed:
                self.aim_again()
            self.angles, self.rates = self._law(h)
            self.u, self.disturbed = np.zeros_like(self.angles), False
        self.time = until
        if self.disturbed:
            self._bound()
        self._stop()

    def _bound(self) -> None:
        """Keep rates and angles where they mean something, however weakly joints are held.

        Balls that are held come back the shorter way from more than half a turn; those on
        their way do so before a whole turn, at which a rotation vector ends.
        """
        speed = np.sqrt(rotations.dot(self.rates, self.rates))
        if speed.max() > FASTEST:
            self.rates = self.rates * (FASTEST / np.maximum(speed, FASTEST))[:, None]
        most = np.where(self.heading < 0, np.pi, 1.75 * np.pi)
        over = self.ball & (rotations.dot(self.angles, self.angles) > most**2)
        if over.any():
            turns, spins = self.turns_and_spins()
            angles = self._angles(turns)
            self.angles = np.where(over[:, None], angles, self.angles)
            self.rates = np.where(over[:, None], self._rates(angles, spins), self.rates)
            self.aim_again()

    def _accelerations(
        self, number: int, angles: np.ndarray, rates: np.ndarray, pushed: list[Push]
    ) -> np.ndarray:
        """(n, 3) u = M^-1 Q of what acts besides the law."""
        figure, carrier = self.figure, self.carrier
        at = self._pose(angles, rates)
        forces = carried_forces(figure, at, carrier.at(number, self.settings.gravity))
        if self.loose and not self.settings.trailing:
            forces = forces - bias_forces(figure, at)
        if self.settings.drag:
            through_air = (
                at.velocities
                + carrier.velocities[number]
                + rotations.cross(carrier.spins[number], at.centres)
            )
            drag = -self.settings.drag * figure.masses[:, None] * through_air
            turning = -self.settings.drag * apply(at.inertias, at.spins)
            forces = forces + generalised(at, drag, turning)
        for push in pushed:
            force = rotations.rotate(rotations.conjugate(carrier.turns[number]), push.force)
            point = at.joints[push.link] + at.turns[push.link] @ push.arm
            forces = forces + along(at, push.link, point, force)
        matrix = mass_matrix(figure, at)
        if self.settings.trailing:
            matrix, forces = self._trailing(matrix, forces, angles, rates)
        out = np.zeros(3 * len(angles))
        out[figure.freedoms] = np.linalg.solve(matrix, forces)
        return out.reshape(-1, 3)

    def _trailing(
        self, matrix: np.ndarray, forces: np.ndarray, angles: np.ndarray, rates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What u is to solve where each joint trails behind those that it hangs on.

        Of M, the blocks on the diagonal are joints that move alone, those below it what the
        upper joints do to the lower ones. Those above it are left out: nothing comes back up
        a tail, so that each joint follows its own law, however light what hangs on it.
        """
        joint = self.figure.freedoms // 3
        w = self.frequency[:, None]
        law = -(w**2) * (angles - self.set_point) - 2.0 * self.ratio[:, None] * w * rates
        below = np.where(joint[:, None] > joint[None, :], matrix, 0.0)
        own = np.where(joint[:, None] == joint[None, :], matrix, 0.0)
        return own + below, forces - below @ law.ravel()[self.figure.freedoms]

    def _change_rates(self, change: np.ndarray) -> None:
        rates = self.rates.ravel().copy()
        rates[self.figure.freedoms] += change
        self.rates = rates.reshape(-1, 3)

    def _stop(self) -> None:
        """Joints that run into their limits lose the speed that took them there."""
        if self.limits is None:
            return
        low, high = self.limits[:, :, 0], self.limits[:, :, 1]
        beyond = ((self.angles < low) & (self.rates < 0.0)) | (
            (self.angles > high) & (self.rates > 0.0)
        )
        if not beyond.any():
            return
        self.stops += [(self.time, int(i)) for i in np.flatnonzero(beyond.any(axis=1))]
        self.angles = np.clip(self.angles, low, high)
        matrix = mass_matrix(self.figure, self._pose(self.angles, self.rates))
        k = np.flatnonzero(beyond.ravel()[self.figure.freedoms])
        answer = np.linalg.inv(matrix)[:, k]
        speed = self.rates.ravel()[self.figure.freedoms][k]
        self._change_rates(-answer @ np.linalg.solve(answer[k], speed))
        self.aim_again()

    def _collide(self, number: int) -> None:
        c, into = self.carrier, self.into[number]
        self.knocked = False
        if not self._within_reach(self.flight.seen() - c.places[number]).any():
            return
        at, balls = self._pose(self.angles, self.rates), self.flight
        tips = at.joints + apply(at.turns, self.body.tips)
        seen = (balls.places - c.places[number]) @ into
        matrix = None
        for b, link, point, normal in touching(self.body.radii, balls, seen, at.joints, tips):
            ball, row = balls.balls[b], along(at, link, point, normal)
            velocity = balls.velocities[b] @ into - c.velocities[number]
            velocity = velocity - rotations.cross(c.spins[number], point)
            approach = velocity @ normal - row @ self.rates.ravel()[self.figure.freedoms]
            if approach >= 0.0:
                continue
            matrix = mass_matrix(self.figure, at) if matrix is None else matrix
            answer = np.linalg.solve(matrix, row)
            p = impulse(ball, approach, row, answer)
            balls.velocities[b] += p / ball.mass * (into @ normal)
            self._change_rates(-p * answer)
            self.knocked = True
            self.hits.append(Contact(self.time, b, link, c.places[number] + into @ point, p))
            self.aim_again()


def _turns_and_spins(
    figure: Figure, references: np.ndarray, angles: np.ndarray, rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(..., n, 4) turns from rest, and (..., n, 3) spins, of (..., n, 3) angles and rates that
    count from (..., n, 4) references."""
    x, rate = ((y[..., None, :] @ figure.axes)[..., 0, :] for y in (angles, rates))
    turns = rotations.multiply(references, rotations.from_rotation_vector(x))
    spins = apply(jacobian(x.reshape(-1, 3)), rate.reshape(-1, 3))
    return turns, spins.reshape(x.shape)


def _reach(body: Body) -> float:
    """How far from the carrier's origin any point of a limb can be, m."""
    figure = body.figure
    joints = figure.lines @ np.sqrt(rotations.dot(figure.places, figure.places))
    return float((joints + np.sqrt(rotations.dot(body.tips, body.tips)) + body.radii).max())
