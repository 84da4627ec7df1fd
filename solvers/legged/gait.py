# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits: which leg is on the ground when, and the clock that they run by.

Girard 1986, sections 3.2 and 3.3. For any leg

    support duration = stroke / speed
    period P = support duration / duty factor
    transfer duration = P - support duration
    leg state = (R P + t) mod P

The state is 0 at touchdown, and the foot lifts off when it equals the support
duration. R is the relative phase. A gait is written down as animators and
vets do, by the *touchdown phase* T of each leg: the share of the stride that
passes from the touchdown of the leg that the gait is counted from to that of
this one. Then R = (1 - T) mod 1, and the conversion is made here alone.

In a gait that alternates, left and right exchange their duty factors and phases
with every stride: the skip of children, a step and a hop on one foot, a step and a
hop on the other (bilateral skipping; Minetti 1998). Each leg still touches down
once a stride, but the gait is the same again only after a cycle of two strides, in
which the leg's state goes on over P where its next touchdown is later.

Under a speed that varies the phase advances by the integral of 1 / P: see
`PhaseClock`. Touchdown k of a leg is where the phase is T + k, its liftoff where
it is T + k + duty factor: exact times, not rounded to frames.

Sources of the presets: touchdown phases, duty factors and stride times of
Witte, Hirst and Wilson 2006 (horse gallop), Hudson, Corr and Wilson 2012
(rotary gallop), studies of Swedish Warmbloods (trot, 0.794 s) and of the tolt
(Equine Vet J 2001), Ramdya et al. 2017 and Szczecinski et al. 2018 (insects);
Lieberman et al. 2015 (runs); Minetti 1998 and McDonnell et al. 2019 (skips); the rest
common knowledge of gait laboratories. The stride grows with the Froude number as in
Alexander 1976: stride / hip height = a Fr^b.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import SettingError, check_number
from .shapes import LegShape, ShapePoint

QUADRUPED = ("hind.L", "hind.R", "fore.L", "fore.R")
BIPED = ("leg.L", "leg.R")
HEXAPOD = ("hind.L", "hind.R", "middle.L", "middle.R", "fore.L", "fore.R")

SPOKEN_SIDES = {"L": "left", "R": "right"}

LEAST_DUTY, MOST_DUTY = 0.05, 0.98  # what a duty factor that varies with speed is kept within


@dataclass(frozen=True)
class Gait:
    """One gait of an animal of any number of legs.

    Attributes:
        name: what the animator calls it.
        legs: names of the legs, in the order of `duty` and `phase`.
        duty: duty factor of each leg, the share of the stride that it is on
            the ground, above 0 and below 1.
        phase: touchdown phase of each leg, the share of the stride after the
            touchdown that the gait is counted from, 0 to 1.
        alternates: whether left and right exchange duty factors and phases
            with every stride.
        stride: a in stride / hip height = a Fr^b, where neither `stroke` nor
            `period` is given.
        stride_exponent: b.
        stroke: way of the body during the support of the first leg, m; None
            to take the stride from the law. The other legs' strokes follow
            from their duty factors, since they share the stride.
        period: duration of a stride, s, at any speed; None for the law.
        froude: least and greatest Froude number at which animals use it.
        duty_froude: Froude number at which `duty` holds.
        duty_exponent: the duty factors change as (Fr / duty_froude)^this;
            0 for none.
        least_transfer: k, shortest time for a leg to swing in, as a multiple of
            sqrt(hip height / g).
        compression: D, how far the hips sink below their height at liftoff
            at most, as a part of the hip height.
        spring: how far the force of legs between two flights is half a sine, as
            springs give it, instead of constant: 0 to 1.
        arc: share of the height of the rigid leg's arc by which a walking
            body rises and sinks; people use some 0.6 of it.
        clearance: height of a swinging foot at its peak, as a part of the
            hip height.
        peak: share of the transfer after which the foot is highest.
        snap: 0 moves swinging feet with minimum jerk, 1 gets them up to speed
            as quickly as fast gaits need.
        kick: how far a foot is thrown up behind after liftoff, as a part of
            the hip height.
        width: of the track, as a part of that in the rest pose.
        strike: pitch of the foot at touchdown, toes up, as a part of the
            foot's own.
        push: pitch of the foot at liftoff, heel up, likewise.
        trajectory: what is added to the way of swinging feet: points (share of
            the transfer, ahead, up), in hip heights, through which a curve is
            laid that is 0, and level, at both ends. Where sides alternate, to
            that of the foot that takes the longer transfer, not of a hop.
        swings: legs whose feet swing through postures instead: see `shapes`.
    """

    name: str
    legs: tuple[str, ...]
    duty: tuple[float, ...]
    phase: tuple[float, ...]
    alternates: bool = False
    stride: float = 2.3
    stride_exponent: float = 0.3
    stroke: float | None = None
    period: float | None = None
    froude: tuple[float, float] = (0.0, math.inf)
    duty_froude: float = 1.0
    duty_exponent: float = 0.0
    least_transfer: float = 0.6
    compression: float = 0.08
    spring: float = 0.0
    arc: float = 0.6
    clearance: float = 0.08
    peak: float = 0.45
    snap: float = 0.0
    kick: float = 0.0
    width: float = 1.0
    strike: float = 1.0
    push: float = 1.0
    trajectory: tuple[tuple[float, float, float], ...] = ()
    swings: tuple[LegShape, ...] = field(default=(), metadata={"later": True})

    @property
    def cycle(self) -> int:
        """Strides after which the gait is the same again: 2 if it alternates, else 1."""
        return 2 if self.alternates else 1

    def sides(self) -> np.ndarray:
        """Whose duty factor and phase each leg has in each stride of a cycle.

        Returns:
            (cycle, n) numbers of legs.
        """
        own = np.arange(len(self.legs))
        return np.stack((own, _opposite(self.legs))[: self.cycle])

    def touchdowns(self) -> np.ndarray:
        """Strides from the begin of a cycle to each leg's touchdown in each of its strides.

        Returns:
            (cycle, n) strides.
        """
        phase = np.asarray(self.phase, dtype=float)
        return phase[self.sides()] + np.arange(self.cycle)[:, None]

    def gaps(self) -> np.ndarray:
        """Strides from each leg's touchdown in each stride of a cycle to its next.

        Returns:
            (cycle, n) strides; 1 where sides do not alternate.
        """
        phase = np.asarray(self.phase, dtype=float)[self.sides()]
        return 1.0 + (np.roll(phase, -1, axis=0) - phase)

    def relative_phase(self) -> np.ndarray:
        """R of each leg in each stride of a cycle, in leg state = (R P + t) mod cycle P.

        Returns:
            (cycle, n) strides, at least 0 and less than a cycle.
        """
        return np.mod(self.cycle - self.touchdowns(), self.cycle)

    def usual_speeds(self, hip: float, gravity: float) -> tuple[float, float]:
        """Least and greatest speed at which animals of a size use it.

        v = sqrt(Fr g h) for both ends of `froude`.

        Args:
            hip: height h of the hips, m.
            gravity: g, m/s^2.

        Returns:
            m/s; the second may be infinite.
        """
        least, most = (math.sqrt(number * gravity * hip) for number in self.froude)
        return least, most

    def duties(self, froude: np.ndarray | float) -> np.ndarray:
        """Duty factors at Froude numbers.

        Args:
            froude: (...) v^2 / (g hip height).

        Returns:
            (..., n) duty factors.
        """
        duty = np.asarray(self.duty, dtype=float)
        if self.duty_exponent == 0.0:
            return np.broadcast_to(duty, (*np.shape(froude), len(duty)))
        number = np.maximum(np.asarray(froude, dtype=float), 1e-3)[..., None]
        scaled = duty * (number / self.duty_froude) ** self.duty_exponent
        low, high = np.minimum(duty, LEAST_DUTY), np.maximum(duty, MOST_DUTY)
        return np.clip(scaled, low, high)

    def strides(self, speed: np.ndarray | float, hip: float, gravity: float) -> np.ndarray:
        """Way of the body in a stride at given speeds.

        Args:
            speed: (...) m/s.
            hip: hip height, m.
            gravity: m/s^2.

        Returns:
            (...) m.
        """
        v = np.asarray(speed, dtype=float)
        if self.period is not None:
            return v * self.period
        if self.stroke is not None:
            return np.full_like(v, self.stroke / self.duty[0])
        froude = v * v / (gravity * hip)
        return self.stride * hip * froude**self.stride_exponent

    def rates(
        self,
        speed: np.ndarray | float,
        hip: float,
        gravity: float,
        most: float | np.ndarray = math.inf,
    ) -> np.ndarray:
        """Strides a second, 1 / P, at given speeds.

        Args:
            speed: (...) m/s.
            hip: hip height, m.
            gravity: m/s^2.
            most: (...) longest stride that the legs can make, m.

        Returns:
            (...) 1/s; 0 at rest, but where the period is given.
        """
        v = np.asarray(speed, dtype=float)
        if self.period is not None:
            return np.maximum(1.0 / self.period, v / most)
        stride = np.minimum(self.strides(v, hip, gravity), most)
        return np.divide(v, stride, out=np.zeros_like(v), where=stride > 1e-12)

    def for_legs(self, names: Sequence[str]) -> Gait:
        """The same gait with its legs in another order.

        Args:
            names: the legs of an animal. Legs of the same names are found by
                them, others taken in order.

        Returns:
            The gait.

        Raises:
            SettingError: there are more legs or fewer.
        """
        names = tuple(names)
        if len(names) != len(self.legs):
            raise SettingError(
                f"Gait {spoken_gait(self.name)}",
                f"made for {len(self.legs)} legs",
                f"one for the {len(names)} legs of this character",
            )
        if names == self.legs:
            return self
        order = list(range(len(names)))
        if set(names) == set(self.legs):
            order = [self.legs.index(name) for name in names]
        return replace(
            self,
            legs=names,
            duty=tuple(self.duty[i] for i in order),
            phase=tuple(self.phase[i] for i in order),
        )


# name -> (label, least, most, requirement)
NUMBERS: dict[str, tuple[str, float, float, str]] = {
    "stroke": ("Stroke", 1e-6, 1e6, "above 0 m (at most 1,000,000)"),
    "period": ("Stride Time", 1e-6, 1e6, "above 0 s (at most 1,000,000)"),
    "stride": ("Stride", 0.01, 100.0, "between 0.01 and 100 hip heights"),
    "stride_exponent": ("Stride Exponent", 0.0, 0.5, "between 0 and 0.5"),
    "duty_exponent": ("Duty Exponent", -1.0, 1.0, "between -1 and 1"),
    "least_transfer": ("Least Transfer", 0.0, 1e3, "at least 0"),
    "compression": ("Bounce (compression)", 1e-4, 0.9, "between 0.0001 and 0.9"),
    "spring": ("Bounce (spring)", 0.0, 1.0, "between 0 and 1"),
    "arc": ("Bounce (arc)", 0.0, 1.0, "between 0 and 1"),
    "clearance": ("Foot Lift", 0.0, 2.0, "between 0 and 2 hip heights"),
    "peak": ("Peak", 0.1, 0.9, "between 0.1 and 0.9"),
    "snap": ("Snap", 0.0, 1.0, "between 0 and 1"),
    "kick": ("Kick", 0.0, 2.0, "between 0 and 2 hip heights"),
    "width": ("Track Width", -2.0, 5.0, "between -2 and 5"),
    "strike": ("Heel Strike", -3.0, 3.0, "between -3 and 3"),
    "push": ("Push Off", -3.0, 3.0, "between -3 and 3"),
}


def check_gait(gait: Gait) -> Gait:
    """Check what an animator may have typed.

    Args:
        gait: a gait.

    Returns:
        The gait, phases of 1 turned into 0.

    Raises:
        SettingError: a value is not a number or out of its range; the message
            names the gait and the leg.
    """
    if not gait.legs:
        raise SettingError(f"Gait {gait.name}", "without legs", "for at least one leg")
    for name, values in (("Duty Factor", gait.duty), ("Phase", gait.phase)):
        if len(values) != len(gait.legs):
            raise SettingError(
                f"{name} of gait {gait.name}",
                f"{len(values)} numbers",
                f"one for each of its {len(gait.legs)} legs",
            )
        for leg, value in zip(gait.legs, values, strict=True):
            where = f"{name} of the {spoken_leg(leg)} in gait {gait.name}"
            if name == "Phase":
                check_number(where, value, 0.0, 1.0, "between 0 and 1")
            else:
                check_number(where, value, 0.001, 0.999, "above 0 and below 1")
    at = f" of gait {gait.name}"
    for name, (label, least, most, requirement) in NUMBERS.items():
        amount = getattr(gait, name)
        if amount is not None:
            check_number(label + at, amount, least, most, requirement)
    if gait.stroke is not None and gait.period is not None:
        raise SettingError(
            "Stroke and Stride Time" + at, (gait.stroke, gait.period), "given one at a time"
        )
    shares = [0.0]
    for point in gait.trajectory:
        if len(point) != 3:
            raise SettingError("Trajectory" + at, point, "points of share, ahead and up")
        check_number("Share in Trajectory" + at, point[0], 0.01, 0.99, "between 0.01 and 0.99")
        for value in point[1:]:
            check_number("Trajectory" + at, value, -3.0, 3.0, "within 3 hip heights")
        if point[0] <= shares[-1]:
            raise SettingError("Share in Trajectory" + at, point[0], f"above {shares[-1]:g}")
        shares.append(point[0])
    for leg, points in gait.swings:
        _check_shape(f"Swing of the {spoken_leg(leg)}{at}", points)
    if 1.0 in gait.phase:
        gait = replace(gait, phase=tuple(p % 1.0 for p in gait.phase))
    return gait


def _check_shape(name: str, points: Sequence[ShapePoint]) -> None:
    """Refuse points that no foot can go through one after the other."""
    table = np.array(points, dtype=float).reshape(-1, 5)
    if not np.all(np.isfinite(table)):
        raise SettingError(name, "undefined", "made of finite numbers")
    shares = table[:, 0]
    if np.any((shares < 0.0) | (shares > 1.0)) or np.any(np.diff(shares) <= 0.0):
        raise SettingError(name, "out of order", "through postures one after the other")
    if not np.any((shares > 0.0) & (shares < 1.0)) or len(shares) < 2:
        raise SettingError(name, "without a posture in the air", "through one at least")


def other_side(leg: str) -> str:
    """The leg on the other side: "fore.R" for "fore.L"; one without a side itself.

    Args:
        leg: name of the leg.
    """
    base, dot, side = leg.rpartition(".")
    return f"{base}.{'R' if side == 'L' else 'L'}" if dot and side in SPOKEN_SIDES else leg


def _opposite(legs: Sequence[str]) -> np.ndarray:
    """Number of the leg on the other side of each; its own where there is none."""
    legs = tuple(legs)
    return np.array(
        [legs.index(other_side(leg)) if other_side(leg) in legs else i
         for i, leg in enumerate(legs)]
    )


def mirrored(gait: Gait) -> Gait:
    """A gait with left and right exchanged: duty factors and phases of each pair of legs.

    Args:
        gait: the gait; legs without another side keep theirs.
    """
    from_leg = _opposite(gait.legs)
    return replace(
        gait,
        duty=tuple(gait.duty[i] for i in from_leg),
        phase=tuple(gait.phase[i] for i in from_leg),
    )


def shift_between(gait: Gait, other: Gait) -> float | None:
    """By how much of the cycle one gait is later than another, if that is all.

    Args:
        gait: the one.
        other: the other, of the same legs.

    Returns:
        At least 0 and below 1, or None where they differ in more.
    """
    cycle = gait.cycle
    if other.cycle != cycle:
        return None
    for side, touchdown in zip(other.sides(), other.touchdowns(), strict=True):
        apart = np.mod(gait.touchdowns()[0] - touchdown + 1e-6, cycle)
        duty = np.asarray(other.duty)[side]
        if np.allclose(gait.duty, duty, atol=1e-6) and np.ptp(apart) < 1e-5:
            return float(max(apart[0] - 1e-6, 0.0)) / cycle
    return None


def spoken_leg(name: str) -> str:
    """A leg as people call it: "fore.R" is the right fore, "leg.L" the left leg.

    Args:
        name: of the leg; one without a side stays as it is.
    """
    base, dot, side = name.rpartition(".")
    if not dot or side not in SPOKEN_SIDES:
        return name
    words = re.sub(r"(?<=[a-z])(?=\d)", " ", base.replace(".", " ").replace("_", " "))
    return f"{SPOKEN_SIDES[side]} {words}"


def spoken_gait(name: str) -> str:
    """A gait as people call it: "WALK_BIPED" is a Walk, "CANTER_LEFT" a Canter Left.

    Args:
        name: of the gait; one that is no preset's stays as it is.
    """
    if name not in PRESETS:
        return name
    return name.removesuffix("_BIPED").replace("_", " ").title()


def drag_support(gait: Gait, leg: str, edge: str, share: float) -> Gait:
    """A gait with the support of one leg dragged in its gait diagram.

    Args:
        gait: the gait.
        leg: name of the leg.
        edge: "ON" to drag the touchdown, which changes phase and duty factor,
            "OFF" for the liftoff, which changes the duty factor, "BAR" for both,
            which changes the phase.
        share: how far, later, as a share of the stride.

    Returns:
        The gait. The duty factor stays between `LEAST_DUTY` and `MOST_DUTY`. Where sides
        alternate, a support that is dragged to before the begin of the stride lets that begin
        earlier: the other phases grow by as much.

    Raises:
        SettingError: it has no such leg, or the edge is another word.
    """
    if leg not in gait.legs:
        raise SettingError("Leg", repr(leg), "one of " + ", ".join(gait.legs))
    if edge not in ("ON", "OFF", "BAR"):
        raise SettingError("Edge", repr(edge), "ON, OFF or BAR")
    i = gait.legs.index(leg)
    duty, phase = gait.duty[i], gait.phase[i]
    longer = {"ON": -share, "OFF": share, "BAR": 0.0}[edge]
    kept = min(max(duty + longer, LEAST_DUTY), MOST_DUTY)
    if edge == "ON":
        share = duty - kept
    later = phase if edge == "OFF" else phase + share
    phases = (*gait.phase[:i], later, *gait.phase[i + 1 :])
    if gait.alternates:  # there a stride later is the other side's turn
        first = min(*phases, 0.0)
        phases = tuple(min(p - first, MOST_DUTY) for p in phases)
    return replace(
        gait,
        duty=(*gait.duty[:i], kept, *gait.duty[i + 1 :]),
        phase=tuple(p % 1.0 for p in phases),
    )


def timing_shown(
    gait: Gait, leg: str, touchdowns: Sequence[float], on: float
) -> tuple[str, float] | None:
    """Whose duty factor and phase a support of a leg shows, and how long its stride lasts.

    Where sides alternate that is the leg's own or the other side's, by how long it is
    until the leg's next touchdown, as a share of the mean of the two before and after.

    Args:
        gait: its gait.
        leg: name of the leg.
        touchdowns: all of the leg, s.
        on: the support's touchdown, s.

    Returns:
        Name of a leg, and s; None where no touchdown before or after tells.
    """
    if not math.isfinite(on):
        return None
    later = min((t - on for t in touchdowns if on < t < math.inf), default=math.nan)
    since = min((on - t for t in touchdowns if -math.inf < t < on), default=math.nan)
    if not gait.alternates:
        stride = since if math.isnan(later) else later
        return None if math.isnan(stride) else (leg, stride)
    stride = 0.5 * (later + since)
    if math.isnan(stride):
        return None
    i = gait.legs.index(leg)
    turn = int(np.argmin(np.abs(gait.gaps()[:, i] - later / stride)))
    return gait.legs[gait.sides()[turn, i]], stride


def leg_states(gait: Gait, period: float, time: np.ndarray) -> np.ndarray:
    """Leg state = (R P + t) mod P, at constant speed: the time since the last touchdown.

    Girard 1986, section 3.3: a leg is in its support where the state is less
    than the support duration, duty factor * P. Where sides alternate it is the least
    of (R P + t) mod 2 P of both strides of a cycle.

    Args:
        gait: the gait.
        period: P, s.
        time: (m,) s after the touchdown that the gait is counted from.

    Returns:
        (m, n) s.
    """
    time = np.asarray(time, dtype=float)
    each = gait.relative_phase() * period + time[..., None, None]
    return np.mod(each, gait.cycle * period).min(axis=-2)


class PhaseClock:
    """The phase of a gait over time: the integral of 1 / P.

    The rate 1 / P is linear between the given times and stays what it is
    before the first and after the last. The phase is 0 at the first.

    Args:
        time: (m,) s, increasing.
        rate: (m,) strides a second, at least 0.
    """

    def __init__(self, time: np.ndarray, rate: np.ndarray) -> None:
        self._time = np.asarray(time, dtype=float)
        self._rate = np.asarray(rate, dtype=float)
        gained = 0.5 * (self._rate[1:] + self._rate[:-1]) * np.diff(self._time)
        self._phase = np.concatenate(([0.0], np.cumsum(gained)))

    def rate(self, time: np.ndarray | float) -> np.ndarray:
        """Strides a second.

        Args:
            time: (...) s.

        Returns:
            (...) 1/s.
        """
        return np.interp(time, self._time, self._rate)

    def slow(self, rate: float) -> tuple[tuple[float, float], ...]:
        """When it goes no faster than a rate.

        Args:
            rate: strides a second.

        Returns:
            From and to when, s, at the given times; from minus infinity, or to
            infinity, where the first, or the last, of them is among these.
        """
        edges = np.flatnonzero(np.diff(np.concatenate(([False], self._rate <= rate, [False]))))
        last = len(self._time)
        return tuple(
            (float(self._time[begin]) if begin else -math.inf,
             float(self._time[end - 1]) if end < last else math.inf)
            for begin, end in edges.reshape(-1, 2)
        )

    def phase(self, time: np.ndarray | float) -> np.ndarray:
        """Strides gone since the first time.

        Args:
            time: (...) s; may be infinite.

        Returns:
            (...) strides.
        """
        t = np.asarray(time, dtype=float)
        times, rates = self._time, self._rate
        inner = np.minimum(np.maximum(t, times[0]), times[-1])
        at = times.searchsorted(inner, "right") - 1
        there = np.interp(inner, times, rates)
        result = self._phase[at] + 0.5 * (rates[at] + there) * (inner - times[at])
        beyond = t - inner
        if beyond.any():
            with np.errstate(invalid="ignore"):
                outside = beyond * np.where(beyond < 0.0, rates[0], rates[-1])
            result = result + np.where(np.isnan(outside), 0.0, outside)
        return result

    def time(self, phase: np.ndarray | float) -> np.ndarray:
        """When a number of strides has gone: the inverse of `phase`, exactly.

        With the rate r + a dt between two times, dt = 2 p / (r + sqrt(r^2 + 2 a p))
        for the rest p of the phase.

        Args:
            phase: (...) strides.

        Returns:
            (...) s, the first such time; infinite if it never comes (or,
            counting back, never was).
        """
        p = np.asarray(phase, dtype=float)
        times, rates, phases = self._time, self._rate, self._phase
        at = np.minimum(np.maximum(phases.searchsorted(p) - 1, 0), max(len(times) - 2, 0))
        if len(times) > 1:
            step = times[at + 1] - times[at]
            slope = (rates[at + 1] - rates[at]) / step
            rest = np.minimum(np.maximum(p - phases[at], 0.0), phases[at + 1] - phases[at])
            root = rates[at] + np.sqrt(np.maximum(rates[at] ** 2 + 2.0 * slope * rest, 0.0))
            gone = np.divide(2.0 * rest, root, out=np.zeros_like(rest), where=root > 0.0)
            result = times[at] + np.minimum(gone, step)
        else:
            result = np.full_like(p, times[0])
        before, after = p < phases[0], p > phases[-1]
        if not (before.any() or after.any()):
            return result
        with np.errstate(divide="ignore", invalid="ignore"):
            early = times[0] + (p - phases[0]) / rates[0]
            late = times[-1] + (p - phases[-1]) / rates[-1]
        return np.where(before, early, np.where(after, late, result))


def _gait(
    name: str,
    legs: tuple[str, ...],
    duty: float | tuple[float, ...],
    phase: Sequence[float],
    **more: Any,
) -> Gait:
    duties = duty if isinstance(duty, tuple) else (duty,) * len(legs)
    return Gait(name, legs, duties, tuple(float(p) % 1.0 for p in phase), **more)


def _lateral(delay: float) -> tuple[float, float, float, float]:
    """Symmetric gait from the delay of the fore leg after the hind leg of its side."""
    return (0.0, 0.5, delay, delay + 0.5)


def metachronal(
    names: Sequence[str],
    duty: float | None = None,
    delay: float | None = None,
    name: str = "WAVE",
    **more: Any,
) -> Gait:
    """A wave of touchdowns that runs along each side, for any number of legs.

    The legs of a side touch down one after the other, each by `delay` of a
    stride after the one behind it; the right side goes half a stride after
    the left.

    Args:
        names: the legs, from the rear to the front on each side; those whose
            names end in ".R" are the right side, all others the left.
        duty: duty factor; None for (n - 1) / n, so that one leg swings at a
            time (a single leg hops: 0.5).
        delay: share of the stride; None for 1 / n.
        name: what the gait is called.
        more: further attributes of the gait.

    Returns:
        The gait. For six legs a delay of 1/6, 1/3 and 1/2 is the wave, the
        ripple and the tripod.
    """
    names = tuple(names)
    n = len(names)
    if duty is None:
        duty = (n - 1) / n if n > 1 else 0.5
    if delay is None:
        delay = 1.0 / n if n else 0.0
    phase, count = [], {"L": 0, "R": 0}
    for leg in names:
        side = "R" if leg.endswith(".R") else "L"
        phase.append(count[side] * delay + (0.5 if side == "R" else 0.0))
        count[side] += 1
    return _gait(name, names, float(duty), phase, **more)


_HORSE_GALLOP = {
    # 0.42 s at 17 m/s and 0.495 s at 9 m/s with hips 1.4 m high; duty factors 0.287 and 0.224
    # (hind), 0.265 and 0.184 (fore) (Witte et al. 2006): here at Fr = 5.9.
    "stride": 1.65, "stride_exponent": 0.37, "duty_froude": 5.9, "duty_exponent": -0.2,
    "clearance": 0.2, "peak": 0.35, "snap": 1.0, "kick": 0.08, "compression": 0.1,
    "froude": (3.0, 40.0),
}
_ROTARY = _HORSE_GALLOP | {
    # Cheetahs take up to 4 strides a second (Hudson et al. 2012), dogs of 25 kg that begin to
    # gallop 2.9 (Heglund et al. 1974). Pairs of legs far apart carry the trunk for longer.
    "stride": 1.67, "stride_exponent": 0.4, "duty_froude": 10.0, "duty_exponent": -0.1,
    "froude": (1.5, 60.0),
}
_CANTER = {
    "stride": 1.75, "stride_exponent": 0.37, "froude": (1.0, 4.0), "clearance": 0.15,
    "snap": 0.8, "peak": 0.35, "compression": 0.1, "duty_froude": 2.2, "duty_exponent": -0.15,
}
_RUN = {
    # Duty factors 0.40 at 2.5 m/s, 0.315 at 4, 0.21 in a sprint at 9, hips 0.9 m high. Strides
    # that take runners the least energy, 85 a minute at 3 m/s (Lieberman et al. 2015): in longer
    # ones feet are down for longer, and hips have to sink for legs to reach.
    "stride": 2.3, "stride_exponent": 0.42, "duty_froude": 1.81, "duty_exponent": -0.25,
    "clearance": 0.2, "peak": 0.4, "kick": 0.12, "snap": 0.6, "width": 0.3,
    "compression": 0.1, "least_transfer": 0.8, "spring": 0.8,  # 7 to 10 cm up and down
}
_SKIP = {
    # Steps a little shorter than a runner's at 2.68 m/s (McDonnell et al. 2019), and as many
    # (Minetti 1998); both feet are down for a moment before each flight.
    "stride": 2.25, "stride_exponent": 0.4, "froude": (0.25, 1.4), "clearance": 0.08, "snap": 0.8,
    "compression": 0.06, "peak": 0.4, "width": 0.5, "push": 0.7,
}
_INSECT = {
    "stride": 1.6, "stride_exponent": 0.2, "clearance": 0.35, "peak": 0.5, "arc": 0.1,
    "least_transfer": 0.5, "compression": 0.05,
}

PRESETS: dict[str, Gait] = {
    gait.name: gait
    for gait in (
        _gait("WALK", QUADRUPED, (0.64, 0.64, 0.62, 0.62), _lateral(0.22), stride=2.1,
              froude=(0.02, 0.5), clearance=0.08, snap=1.0),
        _gait("AMBLE", QUADRUPED, 0.45, _lateral(0.24), stride=1.8, froude=(0.3, 2.2),
              clearance=0.16, snap=0.2),
        _gait("PACE", QUADRUPED, 0.40, _lateral(0.96), froude=(0.4, 5.0), clearance=0.14,
              snap=0.3, duty_froude=1.4, duty_exponent=-0.14),
        # 0.794 s at 4 m/s with hips 1.4 m high; the trunk's 5.3 cm up and down
        # (Buchner et al. 2000) are those of a force half way to half a sine.
        _gait("TROT", QUADRUPED, 0.39, (0.0, 0.5, 0.52, 0.02), stride=2.13, stride_exponent=0.42,
              froude=(0.35, 2.5), clearance=0.075, peak=0.3, snap=0.85, kick=0.04,
              duty_froude=1.4, duty_exponent=-0.14, spring=0.5),
        _gait("CANTER_LEFT", QUADRUPED, (0.38, 0.40, 0.38, 0.38), (0.32, 0.0, 0.57, 0.32),
              **_CANTER),
        _gait("CANTER_RIGHT", QUADRUPED, (0.40, 0.38, 0.38, 0.38), (0.0, 0.32, 0.32, 0.57),
              **_CANTER),
        _gait("GALLOP_LEFT", QUADRUPED, (0.287, 0.287, 0.265, 0.265),
              (0.20, 0.0, 0.57, 0.40), **_HORSE_GALLOP),
        _gait("GALLOP_RIGHT", QUADRUPED, (0.287, 0.287, 0.265, 0.265),
              (0.0, 0.20, 0.40, 0.57), **_HORSE_GALLOP),
        _gait("ROTARY_LEFT", QUADRUPED, 0.24, (0.12, 0.0, 0.43, 0.57), **_ROTARY),
        _gait("ROTARY_RIGHT", QUADRUPED, 0.24, (0.0, 0.12, 0.57, 0.43), **_ROTARY),
        # Strides as quick as where animals begin to gallop, 4.5 m^-0.14 a second at
        # 1.5 m^0.22 m/s (Heglund et al. 1974): longer ones throw the trunk up and down.
        _gait("BOUND", QUADRUPED, 0.30, (0.0, 0.0, 0.45, 0.45),
              **_HORSE_GALLOP | {"stride": 1.57, "stride_exponent": 0.4, "duty_froude": 3.0,
                                 "froude": (1.0, 20.0)}),
        _gait("PRONK", QUADRUPED, 0.25, (0.0, 0.0, 0.0, 0.0), stride=2.0, froude=(0.5, 8.0),
              clearance=0.25, snap=0.5, compression=0.12),
        _gait("WALK_BIPED", BIPED, 0.617, (0.0, 0.5), stride=2.3, stride_exponent=0.25,
              froude=(0.02, 0.5), clearance=0.062, peak=0.32, snap=0.4, arc=0.46,
              least_transfer=0.8, width=0.6),
        # Runners leave the ground over their toes, heels up by 60 to 70 degrees right after.
        _gait("RUN", BIPED, 0.315, (0.0, 0.5), froude=(0.5, 20.0), strike=0.9, push=1.2, **_RUN),
        _gait("JOG", BIPED, 0.37, (0.0, 0.5), froude=(0.4, 1.5), strike=0.75, push=1.2,
              **_RUN | {"clearance": 0.14, "kick": 0.05, "duty_froude": 1.0, "spring": 1.0}),
        # The knee of the free leg goes up with the hop, and down before the step.
        _gait("SKIP", BIPED, 0.38, (0.0, 0.32), alternates=True, trajectory=(
              (0.15, 0.03, 0.05), (0.35, 0.24, 0.18), (0.52, 0.26, 0.26), (0.70, 0.10, 0.17)),
              **_SKIP),
        # With the same foot down ahead each time: how children gallop.
        _gait("SKIP_LEFT", BIPED, 0.38, (0.32, 0.0), **_SKIP),
        _gait("SKIP_RIGHT", BIPED, 0.38, (0.0, 0.32), **_SKIP),
        # 2.2 hops a second at nearly any speed (Farley et al. 1991), hips 0.95 m high.
        _gait("HOP", BIPED, 0.40, (0.0, 0.0), stride=1.41, stride_exponent=0.45, froude=(0.05, 3.0),
              clearance=0.12, snap=0.3, compression=0.12, strike=0.0),
        metachronal(HEXAPOD, 0.55, 0.5, "TRIPOD", **_INSECT | {"froude": (0.3, 50.0)}),
        metachronal(HEXAPOD, 0.67, 1.0 / 3.0, "RIPPLE", **_INSECT | {"froude": (0.05, 0.5)}),
        metachronal(HEXAPOD, 5.0 / 6.0, 1.0 / 6.0, "WAVE", **_INSECT | {"froude": (0.0, 0.1)}),
    )
}
"""The presets by name; legs in the order of QUADRUPED, BIPED or HEXAPOD."""
