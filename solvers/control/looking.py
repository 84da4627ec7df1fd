# SPDX-License-Identifier: GPL-3.0-or-later
"""What a car does next under a parking controller: looking ahead.

A table this coarse says roughly how far it still is, not exactly which move is best. What
to do is therefore found by looking ahead along the exact moves, with the table's values
where they end: a beam search, three moves deep while the car rolls and six where it
stands, since what is hard - to leave a place where the car is wedged - begins at rest.

A move is made only where the car stays `MARGIN` clear at every sub-step of 1/64 s, in
which no point of it moves by more than twice that, and where it could then brake to rest
as safely: there is always something safe to do next. Where the start is nearer to
something than that, nine tenths of the clearance there are the margin.
"""

from __future__ import annotations

import math

import numpy as np

from .car import placed, travel
from .parking import LEAST, MARGIN, Parking, bounds, layers, moves
from .parking import UNKNOWN as FAR

SUBSTEP = 1.0 / 64.0  # s
BEAM = 24
AHEAD = (3, 6)
"""Moves looked ahead: while rolling, and at rest."""

ENDS = 0.9  # s, of value: who is so near has parked, but for straightening the wheels
PLACE = np.array([0.4, 0.4, math.radians(8.0)])
"""m, m, rad within which two places are the same."""


_Ways = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""(k,) state each way begins at, (k, n, 2) its moves, (k, 3) pose where it ends, (k,) s spent.

A move is a node of steering and speed, and the speed in between, 0 unless it shuffles."""


class Driver:
    """Decides on moves.

    Where it has stood often before, a place costs more, so that who is in a local minimum
    of the table leaves it (as in Korf, "Real-Time Heuristic Search", 1990).

    Args:
        parking: the controller.
        ahead: how many moves are looked ahead, rolling and at rest.
        beam: how many ways are followed.
    """

    def __init__(self, parking: Parking, ahead: tuple[int, int] = AHEAD, beam: int = BEAM) -> None:
        self.parking, self.ahead, self.beam = parking, ahead, beam
        car, size = parking.car, parking.size
        steering, speed = layers(car, size)
        self.nodes = np.array([(a, b) for a in steering for b in speed])
        table = parking.table
        self.poses = type(table.grid)(table.grid.axes[2:])
        cost = table.cost.reshape(len(self.nodes), -1)
        self.free = np.isfinite(cost[0])
        self.values = np.where(self.free, cost, 0.0)
        self.all = moves(car, size)
        # Moves by the layer they begin in, as many places for each.
        count = np.bincount(self.all.begin)
        order = np.argsort(self.all.begin, kind="stable")
        place = np.concatenate([np.arange(n) for n in count])
        self.options = np.full((len(self.nodes), count.max()), -1)
        self.options[self.all.begin[order], place] = order

    def value(self, layer: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """(m,) s from states to the end; removed corners are dropped if others weigh enough.

        Args:
            layer: (m,) nodes of steering and speed.
            poses: (m, 3) of centres.
        """
        index, weight, inside = self.poses.corners(poses)
        weight = weight * self.free[index]
        total = weight.sum(axis=1)
        found = (weight * self.values[layer[:, None], index]).sum(axis=1)
        found = np.where(inside & (total >= LEAST), found / np.maximum(total, 1e-9), FAR)
        still = self.nodes[layer, 1] == 0.0
        parking, steering = self.parking, self.nodes[layer[still], 0]
        least, most = bounds(parking.street, parking.size, poses[still], steering)
        found[still] = np.clip(found[still], least, most)
        return found

    def clearance(self, poses: np.ndarray) -> np.ndarray:
        """m, of centres' poses (..., 3).

        Args:
            poses: x, y, heading.
        """
        return self.parking.street.clearance(self.parking.car, *np.moveaxis(poses, -1, 0))

    def first_moves(self, states: np.ndarray) -> _Ways:
        """Safe moves from states: to nodes of steering and speed that a step reaches.

        Args:
            states: (m, 5) of centres.
        """
        car, step = self.parking.car, self.parking.size.step
        off = np.abs(self.nodes - states[:, None, 3:])
        limits = np.array([car.steering_rate, car.acceleration]) * step + 1e-9
        # Standing still is no move.
        within = (off <= limits).all(axis=2) & (off.any(axis=2) | (self.nodes[:, 1] != 0.0))
        who, node = np.nonzero(within)
        peak = np.zeros(len(who))
        # Who stands with the wheels at a node may shuffle.
        at, layer = np.nonzero(~off.any(axis=2) & (self.nodes[:, 1] == 0.0))
        some = np.unique(np.abs(self.all.peak[self.all.peak != 0.0]))
        some = np.concatenate([-some[::-1], some])
        who = np.concatenate([who, np.repeat(at, len(some))])
        node = np.concatenate([node, np.repeat(layer, len(some))])
        peak = np.concatenate([peak, np.tile(some, len(at))])
        poses, begin = states[who, :3], states[who, 3:]
        end = np.where(peak[:, None] == 0.0, self.nodes[node], begin + [0.0, 1.0] * peak[:, None])
        path = self.follow(poses, begin, end, step, step)
        clear = self.clearance(states[:, :3])
        room = np.where(clear >= MARGIN - 1e-9, MARGIN, 0.9 * clear)[who] - 1e-9
        safe = self.clearance(path).min(axis=1) >= room
        # Braking as the table does, the wheels as they are; of a shuffle its second half.
        brake = self.nodes[self.nodes[:, 1] > 0.0, 1].min() / step
        seconds = np.where(peak == 0.0, np.abs(end[:, 1]) / brake, step)
        check = np.flatnonzero(safe & (end[:, 1] != 0.0))
        longest = max(step, self.nodes[-1, 1] / brake)
        stop = self.follow(
            path[check, -1], end[check], end[check] * [1.0, 0.0], seconds[check], longest
        )
        safe[check] = self.clearance(stop).min(axis=1) >= room[check]
        pose = path[:, -1].copy()
        pose[check] = np.where(peak[check, None] == 0.0, pose[check], stop[:, -1])
        steps, price = np.stack([node, peak], axis=1)[:, None], self.price(begin, end, peak)
        return who[safe], steps[safe], pose[safe], price[safe]

    def price(self, begin: np.ndarray, middle: np.ndarray, peak: np.ndarray) -> np.ndarray:
        """(m,) s that moves cost.

        Args:
            begin: (m, 2) steering, speed.
            middle: (m, 2) at the end, or half-way through a shuffle.
            peak: (m,) m/s that shuffles reach, 0 for other moves.
        """
        step = self.parking.size.step
        effort = np.abs(middle - begin) / step @ self.parking.table.weights
        return np.where(peak == 0.0, step, 2.0 * step) * (1.0 + effort)

    def follow(
        self,
        poses: np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        seconds: np.ndarray | float,
        longest: float,
    ) -> np.ndarray:
        """(m, s, 3) centres along moves, by sub-steps short enough for the longest.

        Args:
            poses: (m, 3) of centres.
            begin: (m, 2) steering, speed.
            end: (m, 2).
            seconds: (m,) or one.
            longest: s, the longest of them.
        """
        car = self.parking.car
        path = travel(car, begin, end, seconds, math.ceil(longest / SUBSTEP))[:, 1:]
        return car.centre(placed(car.reference(poses)[:, None], path))

    def decide(
        self,
        states: np.ndarray,
        depth: int,
        plans: np.ndarray,
        left: np.ndarray,
        stood: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """What to do next, and then.

        A plan is followed until one is found that costs less. Ways judged anew from one
        move on look a little better or worse, and a car that always took the best would
        turn its wheels to and fro.

        Args:
            states: (m, 5) of centres.
            depth: how many moves to look ahead.
            plans: (m, p, 2) moves planned up to now, -1 for none.
            left: (m,) s expected of these plans.
            stood: (m, n, 4) poses of centres in which the cars have stood again, and s
                by which they cost more for that.

        Returns:
            (m, p, 2) moves, the first one -1 where none is safe; (m,) s expected.
        """
        m = len(states)
        way = self.first_moves(states)
        kept = np.zeros(m, bool)
        kept[way[0][(way[1][:, 0] == plans[way[0], 0]).all(axis=1)]] = True
        # The best way that ends the motion, and of those that go on the best of the deepest.
        cost, found = np.full((2, m), np.inf), np.full((2, *plans.shape), -1.0)
        for level in range(depth):
            if level:
                way = self._extend(*way)
            who, nodes, pose, spent = way
            value = self.value(nodes[:, -1, 0].astype(int), pose)
            total = spent + value
            total += np.where(value < ENDS, 0.0, _again(pose, who, stood))
            # Of each state the best ones, in order; ties go to the one found first.
            order = np.lexsort((np.arange(len(who)), total, who))
            rank = np.arange(len(who)) - np.searchsorted(who[order], who[order])
            lead = order[rank == 0]
            done = lead[(value[lead] < ENDS) & (total[lead] < cost[0, who[lead]])]
            for kind, rows in enumerate((done, lead)):
                cost[kind, who[rows]] = total[rows]
                found[kind, who[rows], : level + 1] = nodes[rows]
            keep = np.sort(order[rank < self.beam])
            way = (who[keep], nodes[keep], pose[keep], spent[keep])
        best, each = cost.argmin(axis=0), np.arange(m)
        better = ~kept | (cost[best, each] < left - 1e-3)
        return (
            np.where(better[:, None, None], found[best, each], plans),
            np.where(better, cost[best, each], left),
        )

    def _extend(self, who, nodes, pose, spent):
        """All free moves from where the beam's ways end."""
        options = self.options[nodes[:, -1, 0].astype(int)]
        row, _ = np.nonzero(options >= 0)
        move = options[options >= 0]
        path = placed(pose[row][:, None], self.all.paths[move])
        clear = self.clearance(path).min(axis=1) > 0.5 * MARGIN
        row, move, end = row[clear], move[clear], path[clear, -1]
        last = np.stack([self.all.end[move], self.all.peak[move]], axis=1)
        nodes = np.concatenate([nodes[row], last[:, None]], axis=1)
        return who[row], nodes, end, spent[row] + self.all.prices[move]


def _again(poses: np.ndarray, who: np.ndarray, stood: np.ndarray) -> np.ndarray:
    """(k,) s that poses cost more, since their cars have stood near there."""
    more = np.zeros(len(poses))
    some = np.flatnonzero((stood[..., 3] > 0.0).any(axis=1)[who])
    off = np.abs(poses[some, None] - stood[who[some], :, :3]) / PLACE
    more[some] = (stood[who[some], :, 3] * np.maximum(1.0 - off.max(axis=2), 0.0)).sum(axis=1)
    return more
