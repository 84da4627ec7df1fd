# SPDX-License-Identifier: GPL-3.0-or-later
"""Which postures a body passes when, and who bears it between them.

A pace may run backwards, stop or turn back between postures. All of that is unrolled into
visits in order of time, so that the rest of the solver knows only time that runs ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from .body import Body, Limb, Posture, centre, links
from .course import Parameter
from .holds import Hold, whole, with_rolls
from .motion import PostureSequence
from .pace import SAME


@dataclass(frozen=True)
class Timeline:
    """Visits of a sequence.

    Attributes:
        knots: (k,) of the parameter, where the postures stand.
        parameter: times -> parameter and its rate.
        rest: whether the parameter itself begins and ends abruptly.
        visits: (v,) s.
        postures: (v,) index of the posture visited, or -1 where it turns back between two.
        holds: (v - 1) footholds that are kept between visits; none: the body flies.
        standing: (v) footholds at the visits themselves.
    """

    knots: np.ndarray
    parameter: Parameter
    rest: bool
    visits: np.ndarray
    postures: np.ndarray
    holds: tuple[tuple[Hold, ...], ...]
    standing: tuple[tuple[Hold, ...], ...]

    def spans(self, flying: bool) -> list[tuple[int, int]]:
        """First and last visits of the flights, or of what is between them.

        Args:
            flying: which of both.
        """
        out: list[tuple[int, int]] = []
        for i, holds in enumerate(self.holds):
            if bool(holds) == flying:
                continue
            # A flight ends where somebody stands, if only for a moment.
            if out and out[-1][1] == i and not (flying and self.standing[i]):
                out[-1] = (out[-1][0], i + 1)
            else:
                out.append((i, i + 1))
        return out

    def bearing(self, body: Body) -> list[tuple[Limb, list[Hold], np.ndarray]]:
        """Limbs that bear the body, their footholds, and (v - 1) which of these is kept, or -1.

        Args:
            body: the body.
        """
        out = []
        for limb in body.limbs:
            rows = [next((h for h in row if h.limb is limb), None) for row in self.holds]
            known = list(dict.fromkeys(h for h in rows if h is not None))
            number = {hold: k for k, hold in enumerate(known)}
            if known:
                bears = np.array([-1 if h is None else number[h] for h in rows])
                out.append((limb, known, bears))
        return out

    def steps(self) -> list[tuple[int, Hold, Hold]]:
        """Intervals in which a limb goes from one foothold to the next, and these.

        Returns:
            (interval, where it comes from, where it goes) each.
        """
        out = []
        for i, kept in enumerate(self.holds):
            for one in self.standing[i] if kept else ():
                for other in self.standing[i + 1]:
                    if one.limb is other.limb and one not in kept and one is not other:
                        out.append((i, one, other))
        return out


def timeline(
    body: Body, sequence: PostureSequence, postures: list[Posture], holds: list[Hold]
) -> Timeline:
    """Unroll a sequence.

    Args:
        body: the body.
        sequence: with its times, or its pace.
        postures: its postures, settled on their footholds.
        holds: the footholds.

    Returns:
        The visits.

    Raises:
        SettingError: two postures at the same distance along a pace, or a pace that ends
            in the air.
    """
    if sequence.times is not None:
        visits = np.asarray(sequence.times, float) - float(sequence.times[0])

        def same(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            inside = (times >= 0.0) & (times <= visits[-1])
            return np.clip(times, 0.0, visits[-1]), inside.astype(float)

        between, stand = _kept(with_rolls(body, postures, holds, visits, True), len(visits))
        return Timeline(
            visits, same, True, visits, np.arange(len(visits)), between[:-1], stand
        )

    pace, duration = sequence.pace, sequence.duration
    assert pace is not None
    knots = _shares(body, postures, sequence.shares)
    between, at = _kept(with_rolls(body, postures, holds, knots, False), len(knots))

    def paced(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return pace(times / duration), pace.rate(times / duration) / duration

    passes = pace.passes(knots)
    shares = pace(passes)
    near = np.abs(shares[:, None] - knots)
    index = np.where(near.min(axis=1) < 1e-7, near.argmin(axis=1), -1)
    middle = pace(0.5 * (passes[1:] + passes[:-1]))
    kept = []
    for i, share in enumerate(middle):
        if index[i] >= 0 and abs(share - knots[index[i]]) < SAME:
            kept.append(at[index[i]])
        else:
            k = int(np.clip(np.searchsorted(knots, share) - 1, 0, len(knots) - 2))
            kept.append(between[k])
    stand = tuple(at[k] if k >= 0 else kept[max(i - 1, 0)] for i, k in enumerate(index))
    for i, word in ((0, "begins"), (-1, "ends")):
        if not stand[i]:
            raise SettingError("Distance curve", f"one that {word} in the air", "on the ground")
    return Timeline(knots, paced, False, passes * duration, index, tuple(kept), stand)


def _kept(holds: list[Hold], count: int) -> list[tuple[tuple[Hold, ...], ...]]:
    """Footholds that are kept from each posture to the next, and in each."""
    out: list[tuple[tuple[Hold, ...], ...]] = []
    for more in (0, 1):
        rows: list[list[Hold]] = [[] for _ in range(count)]
        for hold in holds:
            for k in range(hold.first, hold.last + more):
                rows[k].append(hold)
        out.append(tuple(map(tuple, rows)))
    return out


def _shares(body: Body, postures: list[Posture], shares: np.ndarray | None) -> np.ndarray:
    """(k,) of the distance at which postures stand, by the mean square way of the mass."""
    if shares is not None:
        row = np.asarray(shares, float)
        return (row - row[0]) / (row[-1] - row[0])
    places = np.stack([p.place for p in postures])
    joints = np.concatenate([whole(p) for p in postures])
    found = links(body, places, joints)
    turns = np.stack([p.whole_turns for p in postures])[1:]
    steps = np.diff(found.centres, axis=0)
    way = np.sqrt(((steps**2).sum(axis=2) @ body.figure.masses) / body.figure.masses.sum())
    # Whole turns move the mass on circles as wide as it is spread.
    apart = found.centres - centre(body, found)[:, None]
    spread = np.sqrt((apart**2).sum(axis=2) @ body.figure.masses / body.figure.masses.sum())
    way = way + 2.0 * np.pi * np.linalg.norm(turns, axis=1) * spread[1:]
    if not (way > SAME).all():
        k = int(np.argmin(way > SAME))
        raise SettingError(
            f"Distance from posture {k + 1} to {k + 2}", 0,
            "above 0: hold a posture by a flat distance curve, or give times",
        )
    return np.concatenate([[0.0], np.cumsum(way)]) / way.sum()
