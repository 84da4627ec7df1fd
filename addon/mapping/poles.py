# SPDX-License-Identifier: GPL-3.0-or-later
"""Ski poles: rigid rods that trail, swing forward and are planted.

The tip's path is chosen first: free it trails behind the hand, for a plant it
moves onto a point of the snow, stays there exactly from touch to lift, and
goes back. The hand then follows: it is moved along the pole so that its
distance from the tip is the pole's length at every instant. All of it is twice
continuously differentiable.

Ground space as in `trunk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...solvers.motion import Event, Problem, TurningMotion
from ...solvers.rotations import normalise
from .ground import Ground
from .signals import Amount, Signals, at_most, at_times, crossings, ramp, window
from .tracks import SIDES, Contact, side_role
from .trunk import SIGN

CLEARANCE = 0.05  # metres between a free tip and the snow
LOWEST_HAND = 0.20  # metres over the snow
PLANTED_HAND, HIGHEST_HAND = 0.97, 0.99  # over the snow, as a share of the pole's length
SLOWEST = 1.0  # m/s, below it nobody plants
APART = 0.25  # seconds from a lift to the next touch of the same pole, at least
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
    reach: np.ndarray  # (3,) hand offset at the middle of the contact, ground space
    down: float  # part of the shaft's direction that points down
    azimuth: float  # direction of the tip from the hand at touch, 0 ahead, pi/2 out
    swing: float  # seconds
    recovery: float
    speed: float


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
        # Where a plant would tear at the arm, there is none.
        while plants:
            torn = signals.time[np.linalg.norm(hand - shoulder[side], axis=1) > 0.99 * plan.arm]
            lost = [p for p in plants if np.any((torn > p.touch - p.swing) &
                                                (torn < p.lift + p.recovery))]
            if not lost:
                break
            skipped += [p.touch for p in lost]
            plants = [p for p in plants if p not in lost]
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


def _plan_plants(motion, ground, signals, plan, grip, shoulder, side):
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
    longest = 0.4 * plan.length / np.maximum(speed, SLOWEST)
    # The hand passes over the planted tip, as far behind it at touch as before
    # it at lift: the pole's length then changes the hand's path least. How far
    # limits how long.
    contact = np.maximum(np.minimum(at(plan.contact), longest), 1e-3)
    period = 2.0 * np.pi / np.maximum(at(motion.frequency), 1e-3)
    swing = np.minimum(at(plan.swing), 0.36 * period)
    forward, out = at(plan.forward), at(plan.out)
    middle = touches + 0.5 * contact
    hands, joints = at_times(grip, spacing, middle), at_times(shoulder, spacing, middle)
    origin, axes = ground.frames_at(middle)
    wanted = (speed >= SLOWEST) & (intensity >= 0.2) & (touches + contact <= time[-1])
    for k in np.flatnonzero(wanted):
        if plants and touches[k] < plants[-1].lift + APART:
            continue  # a phase that wavers is no reason to plant twice
        hand, joint = hands[k], joints[k]
        reach = hand + (sign * out[k], -forward[k], 0.0)
        reach[2] = min(PLANTED_HAND * plan.length, joint[2] - 0.10)
        # The height decides whether the tip touches; what the arm lacks is made up sideways.
        arm = reach - joint
        flat = np.hypot(arm[0], arm[1])
        arm[:2] *= min(1.0, np.sqrt(max((0.88 * plan.arm) ** 2 - arm[2] ** 2, 0.0)) / flat)
        reach = joint + arm
        if np.linalg.norm(arm) > 0.95 * plan.arm or reach[2] < 0.5 * plan.length:
            failed.append(float(touches[k]))
            continue
        half = 0.5 * contact[k] * speed[k]
        tall = np.hypot(reach[2], 0.5 * half)  # as long as the pole on average
        aside = np.sqrt(max(plan.length**2 - tall**2, 0.0))
        place = np.array((reach[0] + sign * aside, reach[1], 0.0))
        plants.append(
            _Plant(
                touch=float(touches[k]),
                lift=float(touches[k] + contact[k]),
                place=origin[k] + axes[k] @ place,
                reach=reach - hand,
                down=float(reach[2] / plan.length),
                azimuth=float(np.arctan2(aside, half)),
                swing=float(swing[k]),
                recovery=float(min(0.45, 0.4 * period[k])),
                speed=float(speed[k]),
            )
        )
    return plants, failed


def _follow(signals, ground, plan, grip, plants, side):
    """Grip and tip tracks of one side with its plants."""
    time, sign = signals.time, SIGN[side]
    hand = grip.copy()
    down = np.cos(plan.trail) * np.ones_like(time)
    azimuth = (np.pi - plan.spread) * np.ones_like(time)
    for plant in plants:
        rows = _rows(time, plant.touch - plant.swing, plant.lift + plant.recovery)
        near = time[rows]
        reach = window(near, plant.touch, plant.lift, plant.swing, plant.recovery)
        hand[rows] += reach[:, None] * plant.reach
        turn = window(near, plant.touch, plant.touch, plant.swing, 0.8 * plant.recovery)
        down[rows] += turn * (plant.down - down[rows])
        azimuth[rows] += turn * (plant.azimuth - azimuth[rows])
    # A hand higher than the pole is long could not bring the tip down any more.
    hand[:, 2] = at_most(hand[:, 2], HIGHEST_HAND * plan.length, 0.015 * plan.length)
    down = at_most(down, (hand[:, 2] - CLEARANCE) / plan.length, 0.06)
    flat = np.sqrt(np.maximum(1.0 - down**2, 0.0))
    shaft = np.stack((sign * flat * np.sin(azimuth), -flat * np.cos(azimuth), -down), axis=-1)
    tip = hand + plan.length * shaft
    planted = np.zeros_like(time)
    for plant in plants:
        # The faster, the sooner the hand has passed: so long the tip takes to and fro.
        passing = plan.length / plant.speed
        come, go = np.clip(0.7 * passing, 0.02, 0.20), np.clip(passing, 0.03, 0.35)
        rows = _rows(time, plant.touch - come, plant.lift + go)
        share = window(time[rows], plant.touch, plant.lift, come, go)
        tip[rows] = _towards(tip[rows], ground.local(plant.place, rows), hand[rows], share,
                             plan.length)
        planted[rows] = np.maximum(planted[rows], share)
    return tip + plan.length * normalise(hand - tip), tip, planted


def _rows(time: np.ndarray, start: float, end: float) -> slice:
    return slice(int(np.searchsorted(time, start)), int(np.searchsorted(time, end, "right")))


def _towards(tip, place, hand, share, length) -> np.ndarray:
    """Tips part of the way to a fixed place, for as long as possible a pole's length from the hand.

    The height goes straight from one to the other and so never below the snow.
    Level with it the tip is first kept on the circle that the hand leaves it,
    and let go to the place only at the end: the hand is hardly pulled.
    """
    out = tip + share[:, None] * (place - tip)
    level = out[:, :2] - hand[:, :2]
    far = np.hypot(level[:, 0], level[:, 1])
    circle = np.sqrt(np.maximum(length**2 - (hand[:, 2] - out[:, 2]) ** 2, 1e-4))
    free = 1.0 - share**4
    out[:, :2] += level * (free * (circle / np.maximum(far, 1e-3) - 1.0))[:, None]
    return out
