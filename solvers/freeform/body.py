# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that postures are made for, and what follows from postures.

Links turn by rest * joint against their parents, joint being a posture's local turn. A
body's centre of mass, inertia and angular momentum about that centre are sums over links,

    c = sum m r / M,   H = sum (I w + m (r - c) x (r' - c'))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .. import rotations
from ..dynamics import Figure
from ..errors import SettingError


@dataclass(frozen=True, eq=False)
class Limb:
    """A chain of links that may bear the body by its end.

    Attributes:
        name: as problems name it ("foot.L").
        links: two or more links of the figure, each the parent of the next.
        tip: (3,) the limb's end in the frame of its last link, m.
        bend: (3,) direction to which its middle joint bends, in the frame of its
            first link: for a limb that is stretched.
        end: link beyond the tip (foot, hand) whose turn in the world is kept while
            the limb bears, or -1.
        rolls: links between the tip and the end (the foot of a person, whose toes are the
            end), each the parent of the next. While the limb bears they turn in the world
            as the postures have them, so that a heel comes up over the toes, and soles that
            lie flat in two postures lie flat in between.
    """

    name: str
    links: tuple[int, ...]
    tip: np.ndarray
    bend: np.ndarray
    end: int = -1
    rolls: tuple[int, ...] = ()

    @property
    def beyond(self) -> tuple[int, ...]:
        """Links beyond the tip, from there on."""
        return (*self.rolls, self.end) if self.end >= 0 else self.rolls


@dataclass(frozen=True, eq=False)
class Tie:
    """Limbs whose ends are fixed to each other: feet on one board.

    Attributes:
        limbs: two or more, with links beyond their tips that turn as one.
        places: (l, 3) of their ends on what fixes them, m.
    """

    limbs: tuple[Limb, ...]
    places: np.ndarray


@dataclass(frozen=True, eq=False)
class Body:
    """An articulated figure with limbs.

    Attributes:
        figure: its links; link 0, the pelvis, carries all others.
        limbs: those that may bear it.
        ties: those of them that keep together, in the air, too.
    """

    figure: Figure
    limbs: tuple[Limb, ...] = ()
    ties: tuple[Tie, ...] = ()

    def __post_init__(self) -> None:
        parents = self.figure.parents
        if np.count_nonzero(np.asarray(parents) < 0) != 1:
            raise SettingError("Roots of a body", int(np.sum(parents < 0)), "one, the pelvis")
        for limb in self.limbs:
            chain = (*limb.links, *limb.beyond)
            if len(limb.links) < 2 or (limb.rolls and limb.end < 0) or any(
                parents[b] != a for a, b in zip(chain[:-1], chain[1:], strict=True)
            ):
                raise SettingError(
                    f"Limb {limb.name}", chain, "two or more links, each the parent of the next"
                )

    @cached_property
    def levels(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Links as far from the pelvis as each other, and those that carry them, outwards: of
        these one step does for all."""
        parents = np.asarray(self.figure.parents)
        depth = np.zeros(len(parents), int)
        for link in range(1, len(parents)):
            depth[link] = depth[parents[link]] + 1
        rows = [np.flatnonzero(depth == far) for far in range(1, int(depth.max()) + 1)]
        return tuple((row, parents[row]) for row in rows)

    @cached_property
    def _straight(self) -> bool:
        return np.array_equal(self.figure.rests, rotations.identity(len(self.figure.rests)))

    def from_rest(self, joints: np.ndarray) -> np.ndarray:
        """(t, n, 4) turns of links against what carries them.

        Args:
            joints: (t, n, 4) local turns against rest.
        """
        return joints if self._straight else rotations.multiply(self.figure.rests, joints)


@dataclass(frozen=True, eq=False)
class Posture:
    """How a body is held.

    Attributes:
        place: (3,) of the pelvis, m.
        turn: (4,) of the pelvis.
        joints: (n, 4) turns of the links against their rest; that of the pelvis counts
            for nothing.
        supports: names of the limbs that bear the body; none: it is in the air.
        whole_turns: (3,) whole turns of the pelvis on the way here from the posture
            before, beyond the shorter way: a world axis times their number.
    """

    place: np.ndarray
    turn: np.ndarray
    joints: np.ndarray
    supports: tuple[str, ...] = ()
    whole_turns: np.ndarray = field(default_factory=lambda: np.zeros(3))


def length(body: Body, limb: Limb) -> float:
    """Length of a limb when it is stretched, m.

    Args:
        body: the body.
        limb: one of its limbs.
    """
    bones = body.figure.places[list(limb.links[1:])]
    return float(np.linalg.norm(bones, axis=1).sum() + np.linalg.norm(limb.tip))


class Links(NamedTuple):
    """Where links are, over time.

    Attributes:
        turns: (t, n, 4) in the world.
        joints: (t, n, 3) m.
        centres: (t, n, 3) centres of mass, m.
    """

    turns: np.ndarray
    joints: np.ndarray
    centres: np.ndarray


def links(body: Body, place: np.ndarray, joints: np.ndarray) -> Links:
    """Forward kinematics.

    Args:
        body: the body.
        place: (t, 3) of the pelvis, m.
        joints: (t, n, 4) local turns; the first is the pelvis' in the world.

    Returns:
        All links.
    """
    figure = body.figure
    own = body.from_rest(joints)
    # Time runs fastest in memory.
    turns, points = (np.empty((k, *own.shape[1::-1])).T for k in (4, 3))
    turns[:, 0], points[:, 0] = joints[:, 0], place
    for row, above in body.levels:
        carried = turns[:, above]
        turns[:, row] = rotations.multiply(carried, own[:, row])
        points[:, row] = points[:, above] + rotations.rotate(carried, figure.places[row])
    return Links(turns, points, points + rotations.rotate(turns, figure.centres))


def limb_root(
    body: Body, limb: Limb, place: np.ndarray, joints: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where a limb is fastened, without looking at all links.

    Args:
        body: the body.
        limb: one of its limbs.
        place: (t, 3) of the pelvis, m.
        joints: (t, n, 4) as for `links`.

    Returns:
        (t, 3) its first joint, m, and (t, 4) the turn of the link that carries it.
    """
    figure, turn = body.figure, joints[:, 0]
    *way, first = np.flatnonzero(figure.lines[limb.links[0]])[1:]
    for link in way:
        place = place + rotations.rotate(turn, figure.places[link])
        own = rotations.multiply(figure.rests[link], joints[:, link])
        turn = rotations.multiply(turn, own)
    return place + rotations.rotate(turn, figure.places[first]), turn


def centre(body: Body, found: Links) -> np.ndarray:
    """(t, 3) centre of mass, m.

    Args:
        body: the body.
        found: its links.
    """
    share = body.figure.masses / body.figure.masses.sum()
    return np.einsum("n,tnk->tk", share, found.centres)


class Inside(NamedTuple):
    """A body as seen from its pelvis, which is held.

    Attributes:
        centre: (t, 3) centre of mass, m.
        velocity: (t, 3) of it, m/s.
        inertia: (t, 3, 3) about it, kg m^2.
        momentum: (t, 3) angular momentum about it, kg m^2/s.
    """

    centre: np.ndarray
    velocity: np.ndarray
    inertia: np.ndarray
    momentum: np.ndarray


def inside(body: Body, joints: np.ndarray, rates: np.ndarray) -> Inside:
    """Centre of mass, inertia and momentum in the frame of the pelvis.

    Args:
        body: the body.
        joints: (t, n, 4) local turns; that of the pelvis counts for nothing.
        rates: (t, n, 3) their rates in the links' own frames, rad/s.

    Returns:
        What the limbs do while the pelvis is held.
    """
    figure, share = body.figure, body.figure.masses / body.figure.masses.sum()
    turns = rotations.to_matrix(body.from_rest(joints))
    turns[:, 0] = np.eye(3)
    points, passed = (np.zeros((k, *turns.shape[1::-1])).T for k in (3, 6))
    for row, above in body.levels:
        carried = turns[:, above]
        points[:, row] = points[:, above] + np.einsum("tnij,nj->tni", carried, figure.places[row])
        turns[:, row] = np.einsum("tnij,tnjk->kint", carried, turns[:, row]).T
    # What moves with a link: its spin, and its velocity at the pelvis.
    own = np.einsum("tnij,tnj->tni", turns, rates)
    passed[:, 1:, :3], passed[:, 1:, 3:] = own[:, 1:], rotations.cross(points, own)[:, 1:]
    for row, above in body.levels:
        passed[:, row] += passed[:, above]
    spins, arms = passed[..., :3], points + np.einsum("tnij,nj->tni", turns, figure.centres)
    velocities = rotations.cross(spins, arms) + passed[..., 3:]
    c, v = (np.einsum("n,tnk->tk", share, x) for x in (arms, velocities))
    apart, drift = arms - c[:, None], velocities - v[:, None]
    massed = figure.masses[:, None] * apart
    spread = np.einsum("tni,tnj->ijt", massed, apart).T
    trace = np.trace(spread, axis1=1, axis2=2)
    turned = np.einsum("tnia,nab->ibnt", turns, figure.inertias)
    inertia = np.einsum("ibnt,tnjb->ijt", turned, turns).T
    inertia = inertia + trace[:, None, None] * np.eye(3) - spread
    local = np.einsum("tnji,tnj->tni", turns, spins)
    momentum = np.einsum("ibnt,tnb->ti", turned, local)
    momentum += rotations.cross(massed, drift).sum(axis=1)
    return Inside(c, v, inertia, momentum)
