# SPDX-License-Identifier: GPL-3.0-or-later
"""Ski poles: rigid rods that trail, swing forward and are planted.

The direction of the shaft is chosen first: free it trails behind the hand; for
a plant it swings forward and then points at a place on the snow, which passes
the skier as the ground does. Before the touch that place gathers its speed
smoothly, after the lift it loses it smoothly, so that the pole comes into the
plant and out of it in one sweep. The hand then follows: it is moved along the
pole so that from touch to lift the tip is exactly in that place. All of it is
twice continuously differentiable.

Ground space as in `trunk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, hypot, sqrt
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ...solvers.motion import Event, Problem, TurningMotion
from ...solvers.rotations import normalise
from .ground import Ground, height_over
from .signals import Amount, Signals, at_most, at_times, crossings, ramp, step, window
from .tracks import SIDES, Contact, side_role
from .trunk import SIGN

CALM = 0.06  # seconds over which what is under a free tip is evened out
CLEARANCE = 0.05  # metres between a free tip and the snow
LOWEST_HAND = 0.20  # metres over the snow
PLANTED_HAND, HIGHEST_HAND = 0.97, 0.99  # over the snow, as a share of the pole's length
# Longest way of a hand over its planted tip: share of the pole's length, and of the arm's reach.
WAY_OF_POLE, WAY_OF_ARM = 0.4, 0.735
BRIEFER = (0.6, 0.35, 0.2)  # shares of it, tried where an arm is too short for the whole
SLOWEST = 1.0  # m/s, below it nobody plants
APART = 0.25  # seconds from a lift to the next touch of the same pole, at least
STEEPEST = np.radians(70.0)  # a shaft leaning further than this hardly points at the snow
# Shares of the time in which a pole's length passes:
COME = 1.0  # in which the tip takes up the snow's speed
GIVE, BACK = 0.35, 1.2  # in which the hand yields to the pole, and by which it is free again
FIRST = 0.1  # seconds: a motion does not open on a plant


@dataclass(frozen=True)
class PolePlan:
    """Amounts for the poles; angles in radians, lengths in metres.

    Attributes:
        length: grip to tip.
        trail: lean of the trailing shaft from straight down.
        spread: how far the trailing shaft points outwards from straight back.
        plants: plant the poles at all.
        phase: phase of a plant against the start of the turn it leads into.
        contact: longest time the tip stays in the snow, seconds.
        swing: time the pole takes to swing forward, seconds.
        forward: how far the hand goes forward for it.
        out: how far the hand goes out to the side for it.
        arm: longest distance from shoulder to grip.
    """

    length: float
    trail: Amount
    spread: Amount
    plants: bool
    phase: Amount
    contact: Amount
    swing: Amount
    forward: Amount
    out: Amount
    arm: float


@dataclass(frozen=True)
class Poles:
    """Solved poles.

    Attributes:
        grip: side -> (n, 3) ground space.
        tip: side -> (n, 3) ground space.
        contacts: spans in which a tip is fixed in the world.
        events: POLE_PLANT and POLE_LIFT, in order of time.
        kinks: times of touch and lift.
        problems: plants left out.
        planting: side -> (n,) 0 free to 1 planted.
    """

    grip: dict[str, np.ndarray]
    tip: dict[str, np.ndarray]
    contacts: tuple[Contact, ...]
    events: tuple[Event, ...]
    kinks: np.ndarray
    problems: tuple[Problem, ...]
    planting: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class _Plant:
    touch: float
    lift: float
    place: np.ndarray  # world
    level: np.ndarray  # world, on the ground's plane, where terrain lies over or under it
    reach: np.ndarray  # (3,) hand offset at the middle of the contact, ground space
    down: float  # shaft at the end of the swing: part of its direction that points down
    azimuth: float  # and direction of the tip from the hand, 0 ahead, pi/2 out
    swing: float  # seconds
    come: float  # seconds before the touch in which the tip takes up the snow's speed
    give: float  # seconds before touch and after lift in which the hand yields to the pole
    free: float  # seconds before touch and after lift beyond which the hand is free
    sweep: float  # seconds after the lift in which the shaft sweeps on
    recovery: float


def plant_times(signals: Signals, phase: Amount, side: str) -> np.ndarray:
    """Times at which a side plants: inside hand of the coming turn.

    Phase 0 is the change of edges into a left turn, pi that into a right turn;
    the left hand plants at `phase`, the right one at pi + `phase`.

    Args:
        signals: the motion's signals.
        phase: phase of the plant, radians; negative is before the change.
        side: "L" or "R".
    """
    start = 0.0 if side == "L" else np.pi
    return crossings(np.sin(signals.phase - start - phase), signals.time)


def pose_poles(
    motion: TurningMotion,
    ground: Ground,
    signals: Signals,
    plan: PolePlan,
    grip: dict[str, np.ndarray],
    shoulder: dict[str, np.ndarray],
) -> Poles:
    """Place grips and tips for the whole motion.

    Args:
        motion: the motion.
        ground: its ground frames.
        signals: its signals.
        plan: amounts.
        grip: side -> (n, 3) where the hands would be without a plant.
        shoulder: side -> (n, 3) shoulder joints.
    """
    out_grip, out_tip, planting = {}, {}, {}
    contacts, events, skipped = [], [], []
    for side in SIDES:
        free = _raised(grip[side])
        plants: list[_Plant] = []
        if plan.plants:
            plants, failed = _plan_plants(motion, ground, signals, plan, free, shoulder[side],
                                          side)
            skipped += failed
        hand, tip, share = _follow(signals, ground, plan, free, plants, side)
        # Where a plant would tear at the arm there is a shorter one, and in the end none.
        briefer = iter(BRIEFER)
        while lost := _torn(signals.time, plan, hand - shoulder[side], plants):
            plants = [p for p in plants if p not in lost]
            touches, brief = [p.touch for p in lost], next(briefer, None)
            if brief is None:
                skipped += touches
            else:
                others, _ = _plan_plants(motion, ground, signals, plan, free, shoulder[side],
                                         side, brief)
                plants += [p for p in others if p.touch in touches]
                plants.sort(key=lambda plant: plant.touch)
            hand, tip, share = _follow(signals, ground, plan, free, plants, side)
        out_grip[side], out_tip[side], planting[side] = hand, tip, share
        for plant in plants:
            role = side_role("pole_tip", side)
            contacts.append(Contact(role, plant.touch, plant.lift, plant.place))
            events.append(Event("POLE_PLANT", plant.touch, side, plant.place))
            events.append(Event("POLE_LIFT", plant.lift, side, plant.place))
    contacts.sort(key=lambda contact: (contact.start, contact.role))
    events.sort(key=lambda event: event.time)
    problems: tuple[Problem, ...] = ()
    if skipped:
        skipped.sort()
        problems = (
            Problem(
                "POLE_PLANT_SKIPPED",
                f"{len(skipped)} pole plants are left out, the first at {skipped[0]:.2f} s: the "
                "hand cannot reach a point from which the tip touches the snow",
                "INFO",
                time=skipped[0],
                end_time=skipped[-1],
                amount=float(len(skipped)),
                remedy="Less lean at the plant, a later or earlier plant phase, or no plants",
            ),
        )
    kinks = np.array([t for contact in contacts for t in (contact.start, contact.end)])
    return Poles(out_grip, out_tip, tuple(contacts), tuple(events), kinks, problems, planting)


def _raised(grip: np.ndarray) -> np.ndarray:
    """Hands kept out of the snow."""
    out = grip.copy()
    out[:, 2] = LOWEST_HAND + ramp(grip[:, 2] - LOWEST_HAND, 0.08)
    return out


def _torn(time, plan: PolePlan, arm: np.ndarray, plants: list[_Plant]) -> list[_Plant]:
    """Plants while which an arm (n, 3), shoulder to grip, would be too long."""
    torn = time[np.linalg.norm(arm, axis=1) > 0.99 * plan.arm]
    return [p for p in plants if np.any((torn > p.touch - p.swing) & (torn < p.lift + p.recovery))]


def _plan_plants(motion, ground, signals, plan, grip, shoulder, side, brief=1.0):
    """Plants of one side, and the times of those that cannot be had."""
    plants: list[Any] = []
    failed: list[float] = []
    sign, spacing, time = SIGN[side], signals.spacing, signals.time
    touches = plant_times(signals, plan.phase, side)
    end_of_control = min(
        [e.time for e in motion.events if e.kind in ("FALL", "STOP")], default=np.inf
    )
    touches = touches[(touches > FIRST) & (touches < end_of_control)]

    def at(values: Amount) -> np.ndarray:
        return at_times(np.broadcast_to(values, time.shape), spacing, touches)

    speed, intensity = at(signals.speed), at(signals.intensity)
    way = brief * min(WAY_OF_POLE * plan.length, WAY_OF_ARM * plan.arm)
    longest = way / np.maximum(speed, SLOWEST)
    # The hand passes over the planted tip, as far behind it at touch as before
    # it at lift: the pole's length then changes the hand's path least. How far
    # limits how long.
    contact = np.maximum(np.minimum(at(plan.contact), longest), 1e-3)
    period = 2.0 * np.pi / np.maximum(at(motion.frequency), 1e-3)
    swing = np.minimum(at(plan.swing), 0.36 * period)
    forward, out = at(plan.forward), at(plan.out)
    trail, spread = at(plan.trail), at(plan.spread)
    middle = touches + 0.5 * contact
    hands, joints = at_times(grip, spacing, middle), at_times(shoulder, spacing, middle)
    origin, axes = ground.frames_at(middle)
    half = 0.5 * contact * speed
    # The faster, the sooner the hand has passed: so long the tip takes to and fro.
    passing = plan.length / np.maximum(speed, SLOWEST)
    come = np.clip(COME * passing, 0.02, 0.25)
    give, free = np.clip(GIVE * passing, 0.02, 0.15), np.clip(BACK * passing, 0.05, 0.30)
    recovery = np.minimum(0.45, 0.4 * period)
    # A tip that loses its speed over a time comes half as far as one that keeps it.
    ahead = half + 0.5 * come * speed
    lean = np.tan(np.minimum(trail, STEEPEST)) * np.cos(spread)

    def lifted(k: int, place: np.ndarray) -> np.ndarray:
        """The place on the terrain there is at that time."""
        for start, end, surface in motion.surfaces:
            if start <= middle[k] <= end:
                normal = axes[k][:, 2]
                return place + normal * height_over(surface, place[None], normal[None])
        return place

    wanted = (speed >= SLOWEST) & (intensity >= 0.2) & (touches + contact <= time[-1])
    for k in np.flatnonzero(wanted):
        if plants and touches[k] < plants[-1].lift + APART:
            continue  # a phase that wavers is no reason to plant twice
        hand, joint = hands[k], joints[k]
        reach = hand + (sign * out[k], -forward[k], 0.0)
        reach[2] = min(PLANTED_HAND * plan.length, joint[2] - 0.10)
        # The height decides whether the tip touches; what the arm lacks is made up sideways.
        arm = reach - joint
        flat = max(hypot(arm[0], arm[1]), 1e-9)
        arm[:2] *= min(1.0, sqrt(max((0.81 * plan.arm) ** 2 - arm[2] ** 2, 0.0)) / flat)
        reach = joint + arm
        if hypot(*arm) > 0.95 * plan.arm or reach[2] < 0.5 * plan.length:
            failed.append(float(touches[k]))
            continue
        tall = hypot(reach[2], 0.5 * half[k])  # as long as the pole on average
        aside = sqrt(max(plan.length**2 - tall**2, 0.0))
        place = np.array((reach[0] + sign * aside, reach[1], 0.0))
        sweep = 2.0 * (reach[2] * lean[k] - half[k]) / speed[k]
        plants.append(
            _Plant(
                touch=float(touches[k]),
                lift=float(touches[k] + contact[k]),
                place=lifted(k, origin[k] + axes[k] @ place),
                level=origin[k] + axes[k] @ place,
                reach=reach - hand,
                down=float(reach[2] / hypot(reach[2], aside, ahead[k])),
                azimuth=atan2(aside, ahead[k]),
                swing=float(swing[k]),
                come=float(come[k]),
                give=float(give[k]),
                free=float(free[k]),
                sweep=float(min(max(sweep, 0.05), recovery[k])),
                recovery=float(recovery[k]),
            )
        )
    return plants, failed


def _follow(signals, ground, plan, grip, plants, side):
    """Grip and tip tracks of one side with its plants."""
    time, sign = signals.time, SIGN[side]
    hand = grip.copy()
    down = np.cos(plan.trail) * np.ones_like(time)
    azimuth = (np.pi - plan.spread) * np.ones_like(time)
    near = _Near(time, plants, lambda p: (p.touch - p.swing - p.come, p.lift + p.recovery))
    # Forward for the touch. From then on the free pole is a trailing one: the jump is
    # in the contact, where the free pole does not count.
    before = near.time - near.of("touch")
    turn = step((before + 0.4 * near.of("come")) / near.of("swing") + 1.0)
    turn = np.where(before < 0.0, turn, 0.0)
    near.blend(down, turn, near.of("down"))
    near.blend(azimuth, turn, near.of("azimuth"))
    reach = near.window("swing", "recovery")
    for plant, rows, part in near.parts:
        hand[rows] += reach[part, None] * plant.reach
    # A hand higher than the pole is long could not bring the tip down any more.
    hand[:, 2] = at_most(hand[:, 2], HIGHEST_HAND * plan.length, 0.015 * plan.length)
    height = hand[:, 2]
    down = at_most(down, (height - CLEARANCE) / plan.length, 0.06)
    flat = np.sqrt(np.maximum(1.0 - down**2, 0.0))
    # Shaft as its angle back from straight down and its angle outwards.
    back, out = np.arctan2(-flat * np.cos(azimuth), down), np.arcsin(flat * np.sin(azimuth))
    near = _Near(time, plants, lambda p: (p.touch - p.come, p.lift + p.recovery))
    place = near.place(ground, "come", "sweep") - hand[near.rows]
    length = np.sqrt(np.einsum("ij,ij->i", place, place))
    aim = near.window("come", "recovery")
    near.blend(back, aim, np.arctan2(place[:, 1], -place[:, 2]))
    near.blend(out, aim, np.arcsin(sign * place[:, 0] / length))
    # The hand's height goes with a place that comes to rest sooner: it is pulled less.
    planted, pull = np.zeros_like(time), height.copy()
    near = _Near(time, plants, lambda p: (p.touch - p.free, p.lift + p.free))
    place = near.place(ground, "give", "give") - hand[near.rows]
    length = np.sqrt(np.einsum("ij,ij->i", place, place))
    share = near.window("free", "free")
    near.blend(pull, share, -plan.length * place[:, 2] / length)
    np.maximum.at(planted, near.rows, share)
    shaft = np.stack((sign * np.sin(out), np.cos(out) * np.sin(back),
                      -np.cos(out) * np.cos(back)), axis=-1)
    # The tip is as far over the snow as the hand would leave it, and never below.
    down = np.maximum(-shaft[:, 2], 0.05)
    level = -plan.length * shaft[:, 2]
    rise = _over(pull - level, planted)
    hand -= ((level + rise - height) / down)[:, None] * shaft
    tip = hand + plan.length * shaft
    if ground.motion.surfaces:
        # Over terrain everything goes up and down with what is under the tip; a free tip calmly.
        over = ground.over(tip)
        even = gaussian_filter1d(over, CALM / signals.spacing, mode="nearest")
        over = even + planted * (over - even)
        hand[:, 2] += over
        tip[:, 2] += over
    for plant in plants:
        contact = _rows(time, plant.touch, plant.lift)
        tip[contact] = ground.local(plant.place, contact)
    return tip + plan.length * normalise(hand - tip), tip, planted


def _over(x: np.ndarray, planted: np.ndarray) -> np.ndarray:
    """max(x, 0), rounded and never less (smooth); of a planted tip, none where x is none."""
    free = ramp(x, 0.5 * CLEARANCE)
    held = x * x / np.sqrt(x * x + 1e-4)
    return free + planted * (held - free)


class _Near:
    """The samples near each of many plants, one plant after the other, in one array.

    What is computed for a plant's samples is computed for those of all plants at once.
    """

    def __init__(self, time: np.ndarray, plants, span) -> None:
        slices = [_rows(time, *span(plant)) for plant in plants]
        counts = np.array([rows.stop - rows.start for rows in slices], dtype=int)
        ends = np.concatenate(([0], np.cumsum(counts)))
        self.parts = [
            (plant, rows, slice(first, last))
            for plant, rows, first, last in zip(plants, slices, ends, ends[1:], strict=False)
        ]
        self.rows = np.concatenate(
            [np.zeros(0, dtype=int), *(np.arange(rows.start, rows.stop) for rows in slices)]
        )
        self.time = time[self.rows]
        self._counts, self._plants = counts, plants

    def of(self, name: str) -> np.ndarray:
        """(k,) an attribute of the plant that each sample is near."""
        return np.repeat([float(getattr(plant, name)) for plant in self._plants], self._counts)

    def window(self, rise: str, fall: str) -> np.ndarray:
        """(k,) 1 while the tip is in the snow, rising before and falling after."""
        touch, lift = self.of("touch"), self.of("lift")
        return window(self.time, touch, lift, self.of(rise), self.of(fall))

    def place(self, ground: Ground, come: str, go: str) -> np.ndarray:
        """(k, 3) the plants' places, as lingering ones, in ground space."""
        times = _lingering(
            self.time, self.of("touch"), self.of("lift"), self.of(come), self.of(go)
        )
        origin, axes = ground.frames_at(times)
        where = np.array([plant.level for plant in self._plants]).reshape(-1, 3)
        return np.einsum("nji,nj->ni", axes, np.repeat(where, self._counts, axis=0) - origin)

    def blend(self, values: np.ndarray, share: np.ndarray, towards: np.ndarray) -> None:
        """Move values towards others, plant after plant where their samples overlap."""
        for _plant, rows, part in self.parts:
            values[rows] += share[part] * (towards[part] - values[rows])


def _lingering(
    time: np.ndarray, touch: np.ndarray, lift: np.ndarray, come: np.ndarray, go: np.ndarray
) -> np.ndarray:
    """Time by which a planted place moves: at rest, setting off for the touch, as it is, slowing.

    It runs with the rate step(1 + t / come) before the touch and with the rate
    1 - step(t / go) after the lift.
    """
    def gone(x: np.ndarray) -> np.ndarray:  # integral of `step`
        u = np.clip(x, 0.0, 1.0)
        return u**4 * (2.5 + u * (u - 3.0)) + np.maximum(x - 1.0, 0.0)

    early, late = touch - time, time - lift
    return time + come * gone(early / come) - go * gone(late / go)


def _rows(time: np.ndarray, start: float, end: float) -> slice:
    return slice(int(np.searchsorted(time, start)), int(np.searchsorted(time, end, "right")))
