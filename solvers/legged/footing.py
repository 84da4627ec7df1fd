# SPDX-License-Identifier: GPL-3.0-or-later
"""The third stage of a legged motion: footholds, and the ground that each leg feels.

Girard 1986, sections 3.1 and 4.4: a foothold brings the leg to its stable place under
the body at midstance, further out in bends (`footholds`). Here it is moved, too, as feet
roll, as slopes ask for, and by who comes to a stand.
"""

from __future__ import annotations

import math

import numpy as np

from ..rotations import about_z, between, multiply
from . import problems
from .body import Curve, Floor
from .foot import HALF, strike_on_steps
from .footholds import forward_left, place_footholds, reference_places
from .strides import AskedPlaces
from .travelling import Travelling

LEAD = 0.15  # hip heights that legs which stand under the body are ahead of their hips at most
UPHILL = 0.5  # of the way to where legs reach equally far up and down a slope
SLOPES = np.linspace(0.35, 0.65, 5)  # hip heights, or trunks, before and behind a place between
# which its slope is measured: the mean of several, or treads of stairs would come in by turns
STEEPEST, FADES = 0.8, 0.25  # tangent of slopes that are taken for such, not for walls
PUSHES = 0.7  # of the shift at which legs reach equally far at touchdown and liftoff


class Footing(Travelling):
    """Where feet are set down, and how."""

    def stand(self) -> None:
        """Footholds, and the ground that each leg feels."""
        steps, settings = self.steps, self.settings
        centre = np.asarray(self.creature.centre, dtype=float)
        offset = (self.creature.feet() - centre)[steps.leg][:, :2].copy()
        offset[:, 0] *= np.array([plan.gait.width for plan in self.plans])[steps.gait]
        yaw, _ = self.turning(self.middle)
        body = self.horizontal(self.middle)
        bank, height = self.bank(self.middle), self.heights[steps.leg]
        if not self.level and self.creature.slope_follow and len(self.girdles) > 1:
            offset[:, 1] *= self._foreshortening(body, forward_left(yaw)[0])
        wanted = reference_places(body, yaw, offset, bank, height)
        forward, _ = forward_left(yaw)
        wanted += (self._stagger() - self._roll_back())[:, None] * forward
        if not self.level and self.creature.slope_follow:
            wanted += self._uphill(wanted, forward)[:, None] * forward
        base = float(settings.placement.origin[2])
        sole = np.array([(leg.heel, leg.toe) for leg in self.legs])[steps.leg]
        along = np.interp(self.middle, self.horizontal.time, self._along)
        along += np.sum((wanted - body) * forward, axis=1)
        self.asked_places = AskedPlaces(wanted, yaw, along, sole)
        holds = place_footholds(
            wanted, yaw, steps.leg, self.ground, settings.most_step * self.hip,
            settings.search * self.hip, settings.steepest, base, sole,
        )
        out = np.array([math.copysign(leg.toe_out, leg.hip[0]) for leg in self.legs])
        foot_yaw = yaw + out[steps.leg]
        planned = holds.position[:, 2].copy()
        rise = np.zeros(len(planned))
        same = np.flatnonzero(steps.leg[1:] == steps.leg[:-1]) + 1
        rise[same] = planned[same] - planned[same - 1]
        self.strike[:] = strike_on_steps(self.strike, rise, self.hip)
        self.holds, self.foot_yaw, self.natural = holds, foot_yaw, planned
        up = np.array([0.0, 0.0, 1.0])
        self.foot_turn = multiply(between(up, holds.normal), about_z(foot_yaw))
        self.problems += problems.bad_footholds(steps, holds, self.names, self.end)
        self.floor: list[Curve] = [self._ground_of(leg) for leg in range(self.n_legs)]

    def _foreshortening(self, body: np.ndarray, forward: np.ndarray) -> np.ndarray:
        """(m,) cosines of the slope under the trunk, by which girdles are nearer in plan."""
        trunk = np.ptp(self.creature.hips()[:, 1])
        slope = self._slope(body, forward, SLOPES * np.full(len(body), trunk)[:, None])
        return np.cos(self.creature.slope_follow * np.arctan(slope))

    def _uphill(self, place: np.ndarray, forward: np.ndarray) -> np.ndarray:
        """How far uphill feet are set down of trunks that follow slopes, m.

        Under hips that are h over a slope a leg reaches equally far at both ends of its
        support if the foothold is h sin cos of the slope's angle ahead; animals, who have
        to keep their balance, go about half way.
        """
        high = self.heights[self.steps.leg]
        slope = self._slope(place, forward, SLOPES * high[:, None])
        slope *= np.clip((STEEPEST - np.abs(slope)) / FADES, 0.0, 1.0)
        moves = np.isfinite(self.steps.on) & np.isfinite(self.steps.off)
        share = UPHILL * self.creature.slope_follow * moves
        return share * high * slope / (1.0 + slope**2)

    def _slope(self, place: np.ndarray, forward: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """(m,) tangents of the ground's slope ahead at places, between arms (m, k) ahead and
        behind; 0 where there is no ground."""
        way = arms[..., None] * forward[:, None]
        (front, _, good), (rear, _, solid) = (
            self.ground(*(place[:, None] + sign * way).reshape(-1, 2).T) for sign in (1.0, -1.0)
        )
        with np.errstate(invalid="ignore"):
            rise = (np.asarray(front) - np.asarray(rear)).reshape(arms.shape)
        known = np.asarray(good, dtype=bool) & np.asarray(solid, dtype=bool)
        known = known.reshape(arms.shape) & np.isfinite(rise)
        slope = np.where(known, rise / (2.0 * arms), 0.0)
        return np.mean(slope, axis=1)

    def _ground_of(self, leg: int) -> Floor:
        """Height of the ground under a leg over time."""
        own = self.steps.of(leg)
        own = own[np.append(np.diff(self.middle[own]) > 1e-6, True)]
        change = self.holds.position[own, 2] - self.natural[own]
        return Floor(self.middle[own], self.natural[own], change)

    def _stagger(self) -> np.ndarray:
        """How far ahead of the hips those stand who start from, or come to, a stand.

        As little as it takes for the leg to reach until it lifts off, or from
        where it touches down.
        """
        steps = self.steps
        here, room = self.horizontal(self.middle), 0.5 * self.room[steps.leg]
        ahead = np.zeros(len(steps.on))
        for event, sign in ((steps.off, 1.0), (steps.on, -1.0)):
            of = self.stands & np.isfinite(event)
            way = np.linalg.norm(self.horizontal(event[of]) - here[of], axis=1)
            ahead[of] += sign * np.clip(way - room[of], 0.0, room[of])
        return ahead

    def _roll_back(self) -> np.ndarray:
        """Pitch of feet at touchdown and liftoff, and how far footprints are moved back.

        A rolling foot bears on its heel first and on its toe last. The leg is
        to reach equally high at both ends, so that hips need not sink for one
        of them: with the ankle at a ahead of the footprint and z above the
        ground, a slope t of the leg's circle there and half a stroke s,
        moving back by (a_on + a_off) / 2 + (z_off - z_on) / (2 t) does that. In
        gaits in which the next leg is down by then they are moved by a share of it,
        since who pushes off bends the knee already. Feet whose heels peel off
        reach equally high at touchdown and when the next leg takes over.

        Legs that stand a little ahead of where they hang, as fore legs do under
        their shoulder blades, or behind it, take whole strides about the place
        under it: horses go as far behind their shoulders as ahead of them.
        """
        steps = self.steps
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        on, off = np.clip(steps.on, first, last), np.clip(steps.off, first, last)
        stroke = np.linalg.norm(self.horizontal(off) - self.horizontal(on), axis=1)
        there = self.horizontal(self.middle)
        m = len(on)
        self.strike = np.zeros(m)
        self.push, self.size = np.zeros(m), np.zeros(m)
        back = np.zeros(m)
        for number, leg in enumerate(self.legs):
            own = steps.of(number)
            gaits = [self.plans[k].gait for k in steps.gait[own]]
            far = np.linalg.norm(np.diff(there[own], axis=0), axis=1)
            size = np.clip(far / (0.6 * self.hip), 0.0, 1.0)
            before, after = (np.append(size[:1], size), np.append(size, size[-1:]))
            if len(own) == 1:
                before = after = np.zeros(1)
            strike = leg.strike * before * np.array([gait.strike for gait in gaits])
            push = leg.push * after * np.array([gait.push for gait in gaits])
            self.strike[own], self.push[own], self.size[own] = strike, push, after
            high = float(leg.ankle[2])
            # Heel and toe from under the ankle, wherever on the sole footprints are marked.
            heel, toe = leg.heel - float(leg.ankle[1]), leg.toe + float(leg.ankle[1])
            s, c = np.sin(strike), np.cos(strike)
            ahead_on, high_on = -heel + heel * c - high * s, high * c + heel * s
            duty = np.array([min(gait.duty) for gait in gaits])
            # Heels that peel off are up by a part of it when the next leg takes over.
            carries = np.minimum(0.5 / duty, 1.0) if leg.peel else np.ones(len(own))
            push = push * np.where(carries < 1.0, HALF * leg.peel, 1.0)
            s, c = np.sin(push), np.cos(push)
            ahead_off, high_off = toe - toe * c + high * s, high * c + toe * s
            length = float(self.reached[number])
            half = np.minimum(0.5 * stroke[own], 0.7 * length)
            slope = np.maximum(half / np.sqrt(length**2 - half**2), 0.2)
            shift = 0.5 * (ahead_on + ahead_off) + 0.5 * (high_off - high_on) / slope
            if leg.peel:
                # Where strides get shorter, as ahead of stairs, no more than the shortest asks for.
                around = np.pad(stroke[own], 1, mode="edge")
                around = np.minimum(np.minimum(around[:-2], around[2:]), stroke[own])
                shift += 0.5 * (1.0 - carries) * around
            else:
                shift *= np.where(duty > 0.5, PUSHES, 1.0)
            back[own] = np.clip(shift, -max(heel, 0.0), max(toe, 0.0))
            lead = float(leg.hip[1] - leg.foot[1] - leg.ankle[1])
            # Legs that spread stay apart.
            under = np.clip(2.0 - abs(lead) / (LEAD * self.heights[number]), 0.0, 1.0)
            back[own] += lead * under * np.minimum(before, after)
        back[self.stands] = 0.0  # who stands has feet under the hips
        return back
