# SPDX-License-Identifier: GPL-3.0-or-later
"""The seventh stage of a legged motion: bodies, hips and feet at all samples.

All is known in closed form by now, so that it is evaluated where it is asked for. Legs that
swing are drawn in as far as their length asks for; legs that stand are as long as they are,
and what is out of reach even so is told of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..motion import BodyState, Problem
from ..rotations import continuous
from . import problems
from .foot import FootPose, within_reach
from .footholds import forward_left
from .motion import Footprint, FootRolls, GaitMotion
from .steps import spans_of
from .swinging import Swinging

TINY = 1e-5  # s; for central differences of exact heights
STRETCH = 0.93  # of their length: swinging legs that are longer are drawn in softly
STRAIGHT = 0.995  # likewise of those that swing through postures

ROLLS = math.radians(7.0)  # that feet roll between every other moment that is told of


class Sampling(Swinging):
    """From what all stages found to arrays."""

    def motion(self) -> GaitMotion:
        """Sample everything.

        Returns:
            The motion.
        """
        every_sample = self.horizontal.time[self.inside]
        time = (every_sample - every_sample[0])[self._sampled()]
        # The body at the samples, a little before and after them, and at all events.
        feet, n, count = self.feet, len(time), self.n_legs
        events = np.stack((feet.on, feet.off), axis=1).ravel()
        real = np.isfinite(events)
        pieces = [time, time - TINY, time + TINY, events[real]]
        bounds = np.cumsum([len(piece) for piece in pieces])
        every = self.body(np.concatenate(pieces))
        places, orientations = (np.split(x, bounds[:-1]) for x in every[:2])
        parts = {name: x[: bounds[0]] for name, x in every[2].items()}
        position, turn = places[0], orientations[0]
        self.tick()
        pose = feet(np.tile(time, count), np.full(count, n))
        kept = self._keep(pose)
        self.tick()
        leg = np.repeat(np.arange(count), n)
        hip = self._hips(leg, np.tile(position, (count, 1)), np.tile(turn, (count, 1)))
        place, down = pose.position, pose.contact
        before, ankle = place.copy(), feet.ankles(pose)
        self.free = self._free(events, places[3], orientations[3])
        swung = np.flatnonzero(~down)
        if len(swung):
            length = self.lengths[leg[swung]]
            free = self._stretch(self.free, pose.step[swung], time[swung % n])
            free = np.maximum(free, kept[swung])
            most = np.maximum(length, free + 1e-3 * length)
            place[swung] = within_reach(place[swung], ankle[swung], hip[swung], free, most)
        ankle += place - before
        far = np.linalg.norm(ankle - hip, axis=1)
        length = self.lengths[leg]
        most = length * self._in_line(leg, hip - ankle, np.tile(turn, (count, 1)))
        over = far - np.where(down, most, 1.002 * length)
        k = int(np.argmax(over))
        success = bool(over[k] <= 1e-9)
        if not success:
            step = self.own[pose.step[k]]
            self.problems.append(problems.out_of_reach(
                self.names[leg[k]], int(self.steps.index[step]), float(time[k % n]), float(over[k])
            ))
        hip, place, facing, pitch, contact = (
            np.ascontiguousarray(x.reshape(count, n, *x.shape[1:]).swapaxes(0, 1))
            for x in (hip, place, pose.orientation, pose.pitch, down)
        )
        velocity = (places[2] - places[1]) / (2.0 * TINY)
        velocity[:, :2] = self.horizontal.velocity[self.inside][self._sampled()]
        if self.creature.sway:
            forward, left = forward_left(parts["yaw"])
            sway, rate = self.sway(time), self.turning(time)[1]
            velocity[:, :2] += self.sway.rate(time)[:, None] * left
            velocity[:, :2] -= (sway * rate)[:, None] * forward
        end_state = BodyState(
            position=np.append(position[-1, :2], np.mean([f(time[-1:])[0] for f in self.floor])),
            yaw=float(parts["yaw"][-1]),
            speed=float(np.linalg.norm(velocity[-1, :2])),
            lean=float(parts["bank"][-1]),
            phase=2.0 * math.pi * self._phase_at_end(),
            contacts=tuple(leg.name for i, leg in enumerate(self.legs) if contact[-1, i]),
        )
        return GaitMotion(
            time=time, steps_per_frame=self.per_frame, position=position,
            orientation=continuous(turn), yaw=parts["yaw"], pitch=parts["pitch"],
            roll=parts["roll"], bank=parts["bank"], velocity=velocity,
            girdle_height=parts["heights"], girdle_speed=parts["speeds"], hip=hip,
            foot_position=place, foot_orientation=continuous(facing), foot_pitch=pitch,
            contact=contact,
            footprints=self._footprints(),
            supports=tuple(vertical.profile for vertical in self.vertical),
            gaits=self._spans(), changes=self.changes,
            problems=in_order(self.problems),
            success=success,
            end_state=end_state,
            creature=self.creature,
        )

    def _sampled(self) -> np.ndarray | slice:
        """Which of the motion's samples are wanted."""
        return slice(None)

    def _keep(self, pose: FootPose) -> np.ndarray:
        """Put feet back that are to stay where they were; at what lengths their legs may be."""
        return np.zeros(len(pose.step))

    def _free(self, events: np.ndarray, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Lengths up to which legs that swing after each step stretch freely.

        What they are at liftoff or touchdown, where they are not drawn in: the touchdowns and
        liftoffs are `events` (2 m,), the body at those that are finite at `places` and turned
        by `turns`.
        """
        feet = self.feet
        real, leg = np.isfinite(events), np.repeat(feet.foot, 2)
        moments, of = events[real], leg[real]
        pose = feet(moments, np.bincount(of, minlength=self.n_legs))
        far = np.linalg.norm(feet.ankles(pose) - self._hips(of, places, turns), axis=1)
        unseen = (moments < 0.0) | (moments > self.end)
        far = np.where(unseen, np.minimum(far, 0.999 * self.lengths[of]), far)
        ends = STRETCH * self.lengths[leg]
        ends[real] = np.maximum(ends[real], far)
        # Postures may have legs as good as straight.
        shaped = np.repeat(feet.swing.shapes[1] >= 0, 2)
        ends[shaped] = np.maximum(ends[shaped], STRAIGHT * self.lengths[leg[shaped]])
        on, off = ends[::2], ends[1::2]
        following = np.arange(len(on))
        following[feet.swings] += 1
        return np.maximum(off, on[following])

    def _stretch(self, ends: np.ndarray, step: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Lengths up to which legs stretch freely at times of the swings after given steps."""
        return ends[step]

    def _footprints(self) -> tuple[Footprint, ...]:
        steps = self.steps
        inside = (steps.on <= self.end) & (steps.index >= 0) & ~self.left_out
        seen = np.flatnonzero(inside)
        time, ranks, pose = self.feet.rolls(ROLLS)
        rolls = time, pose.position, pose.orientation, pose.pitch, ranks
        row = np.searchsorted(self.own, seen)
        first, last = (np.searchsorted(pose.step, row, side=side) for side in ("left", "right"))
        return tuple(
            Footprint(
                self.legs[steps.leg[k]].name, int(steps.index[k]), self.holds.position[k].copy(),
                self.foot_turn[k].copy(), float(self.foot_yaw[k]), float(steps.on[k]),
                float(steps.off[k]), self.plans[steps.gait[k]].gait.name,
                rolls=FootRolls(*(values[a:b] for values in rolls)),
                shape=dict(self.plans[steps.gait[k]].gait.swings).get(
                    self.legs[steps.leg[k]].name, ()
                ),
            )
            for k, a, b in zip(seen, first, last, strict=True)
        )

    def _phase_at_end(self) -> float:
        """Share of the cycle of the gait in force that has gone at the end."""
        if self.changes:
            last = self.changes[-1]
            plan, gone = self.plans[last.gait], -last.shift.offset
        else:
            plan = self.plans[0]
            gone = self.settings.start_phase * plan.gait.cycle
        gone += float(plan.clock.phase(self.end))
        return float(np.mod(gone / plan.gait.cycle, 1.0))

    def _spans(self) -> tuple[tuple[str, float, float], ...]:
        return tuple(
            (self.plans[k].gait.name, a, b) for k, a, b in spans_of(self.changes, self.end)
        )


def in_order(told: Sequence[Problem]) -> tuple[Problem, ...]:
    """Problems by their times.

    Args:
        told: the problems.

    Returns:
        Those of the whole motion first, each told once.
    """
    once = {(problem.code, problem.message): problem for problem in told}
    return tuple(sorted(once.values(), key=lambda problem: problem.time or 0.0))
