# SPDX-License-Identifier: GPL-3.0-or-later
"""Equations of motion of an articulated figure: a tree of rigid links.

Every link turns about one point of its parent by a turn of up to three freedoms: the
rotation vector x = B y of the joint, y its k coordinates and B its k axes in the joint's
own frame. One axis is a hinge, two swing without twisting, three are a ball. The turn is
measured from a reference that may itself be moving only with what carries the figure, so
links turn by rest * reference * exp(x).

In the frame of what carries the root,

    M(y) y'' + b(y, y') = Q

with M the sum over links of J_v^T m J_v + J_w^T I J_w, J the Jacobians of the links'
centres of mass and turns (Featherstone, "Rigid Body Dynamics Algorithms", 2008, ch. 2 to
6). What carries the figure shows as forces on the links: its acceleration, its turning,
and gravity as it stands in its frame. A figure that nothing carries ("free") has six
freedoms more.

J is never written out. A rate y' of a freedom moves all that hangs on it by one twist, a
spin and the velocity at the root's place, so that M between two freedoms is the twist of
the upper one times what the lower one gives to the momentum of all that hangs on it. Of
about 20 links that dense matrix is quicker than an algorithm of linear order, and all of
it is a few products of arrays; turns are passed down the tree in as many products as
double up to its depth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .. import rotations
from ..errors import SettingError
from .exponential import apply, cross, crossing, jacobian, jacobian_rate, turning

_ONE = np.eye(3)


@dataclass(frozen=True)
class Figure:
    """A tree of n rigid links; parents stand before their children.

    Attributes:
        parents: (n,) index of the parent, -1 for what hangs on the carrier.
        places: (n, 3) where a link's joint is, in its parent's frame (in the
            carrier's for -1), from the parent's joint, m.
        rests: (n, 4) turn of a link's frame against its parent's at rest.
        axes: (n, 3, 3) rows are a joint's axes in its own frame, unit vectors at
            right angles to each other; rows of zeros are no freedom.
        masses: (n,) kg, above 0.
        centres: (n, 3) centre of mass from the joint, in the link's frame, m.
        inertias: (n, 3, 3) about the centre of mass, in the link's frame, kg m^2.
        free: whether nothing carries the root.
        bases: (n, 3, 3) made here: the rests.
        freedoms: (m,) made here: which of the 3 n coordinates are freedoms.
        lines: (n, n) made here: 1 where a joint (column) moves a link (row).
        owners: (m,) made here: the link that a freedom moves first, six times the root of
            a free figure before all others.
        moved: (n, m) made here: 1 where a freedom moves a link.
        jumps: made here: in each row where the turn that a link's is multiplied by stands,
            n for the carrier.
        above: (m, m) made here: 1 where a freedom (row) moves what another moves, 1/2 on
            the diagonal, so that a matrix of such pairs and its transpose make a whole one.
    """

    parents: np.ndarray
    places: np.ndarray
    rests: np.ndarray
    axes: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    free: bool = False
    bases: np.ndarray = field(init=False, repr=False)
    freedoms: np.ndarray = field(init=False, repr=False)
    lines: np.ndarray = field(init=False, repr=False)
    owners: np.ndarray = field(init=False, repr=False)
    moved: np.ndarray = field(init=False, repr=False)
    jumps: np.ndarray = field(init=False, repr=False)
    above: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.parents)
        if n == 0:
            raise SettingError("Links", n, "at least 1")
        lines = np.eye(n, dtype=bool)
        for i, parent in enumerate(self.parents):
            if not -1 <= parent < i:
                raise SettingError("Parent", int(parent), f"-1 or a link before link {i}")
            if parent >= 0:
                lines[i] |= lines[parent]
        if not (np.asarray(self.masses) > 0.0).all():
            raise SettingError("Mass", float(np.min(self.masses)), "above 0 kg")
        spread = np.linalg.eigvalsh(self.inertias)[:, 0]
        if not (spread >= 0.0).all():
            raise SettingError("Moment of inertia", float(spread.min()), "at least 0 kg m^2")
        roots = np.flatnonzero(np.asarray(self.parents) < 0)
        if self.free and (len(roots) > 1 or np.any(self.axes[roots])):
            raise SettingError("Roots", len(roots), "one without a joint where nothing carries it")
        lengths = np.linalg.norm(self.axes, axis=2)
        freedoms = np.flatnonzero(lengths.ravel() > 0.5)
        owners = np.concatenate([np.zeros(6 if self.free else 0, int), freedoms // 3])
        moved = lines[:, owners].astype(float)
        jumps, jump = [], np.append(np.where(np.asarray(self.parents) < 0, n, self.parents), n)
        while (jump < n).any():
            jumps.append(jump[:n])
            jump = jump[jump]
        for name, made in (
            ("bases", rotations.to_matrix(self.rests)),
            ("freedoms", freedoms),
            ("lines", lines.astype(float)),
            ("owners", owners),
            ("moved", moved),
            ("above", np.triu(moved[owners].T) - 0.5 * np.eye(len(owners))),
            ("jumps", np.array(jumps, int).reshape(-1, n)),
        ):
            object.__setattr__(self, name, made)


class State(NamedTuple):
    """Where the links are and how they move.

    Attributes:
        angles: (n, 3) coordinates y of the joints, rad; 0 where there is no freedom.
        rates: (n, 3) y', rad/s.
        references: (n, 3, 3) turn from rest from which the angles count, or None.
        place: (3,) of the root of a free figure, m.
        turn: (4,) of the root of a free figure.
        velocity: (3,) of the root of a free figure, m/s.
        spin: (3,) of the root of a free figure, rad/s.
    """

    angles: np.ndarray
    rates: np.ndarray
    references: np.ndarray | None = None
    place: np.ndarray = np.zeros(3)
    turn: np.ndarray = np.array([1.0, 0.0, 0.0, 0.0])
    velocity: np.ndarray = np.zeros(3)
    spin: np.ndarray = np.zeros(3)


class Carrier(NamedTuple):
    """How what carries the figure moves, and gravity, in its own frame.

    Attributes:
        acceleration: (3,) of its origin, m/s^2.
        spin: (3,) rad/s.
        spin_rate: (3,) rad/s^2.
        gravity: (3,) m/s^2.
    """

    acceleration: np.ndarray = np.zeros(3)
    spin: np.ndarray = np.zeros(3)
    spin_rate: np.ndarray = np.zeros(3)
    gravity: np.ndarray = np.zeros(3)


class Pose(NamedTuple):
    """What follows from a state, in the carrier's frame; m freedoms.

    Attributes:
        figure: the links.
        state: what it follows from.
        turns: (n, 3, 3) of the links.
        joints: (n, 3) m.
        centres: (n, 3) centres of mass, m.
        arms: (n, 3) from the root's place to the centres, m.
        spins: (n, 3) rad/s.
        velocities: (n, 3) of the centres of mass, m/s.
        inertias: (n, 3, 3) about the centres of mass, kg m^2.
        twists: (m, 6) of what hangs on a freedom at a rate of 1: its spin, and its velocity
            at the root's place.
    """

    figure: Figure
    state: State
    turns: np.ndarray
    joints: np.ndarray
    centres: np.ndarray
    arms: np.ndarray
    spins: np.ndarray
    velocities: np.ndarray
    inertias: np.ndarray
    twists: np.ndarray


def pose(figure: Figure, state: State) -> Pose:
    """Places, velocities and twists of all links.

    Args:
        figure: the links.
        state: where they are and how they move.

    Returns:
        All that the equations of motion are made of.
    """
    own, turned = turning((state.angles[:, None, :] @ figure.axes)[:, 0])
    if state.references is not None:
        own = state.references @ own
    turns = passed_down(figure, figure.bases @ own)
    if figure.free:
        turns = rotations.to_matrix(state.turn[None]) @ turns
    offsets = apply(_above(figure, turns), figure.places)
    turns = turns[:-1]
    joints = figure.lines @ offsets  # from the root's place
    arms = joints + apply(turns, figure.centres)

    world = turns @ turned @ figure.axes.transpose(0, 2, 1)  # (n, 3, 3), columns are axes
    m = len(figure.owners)
    twists = np.empty((m, 6))
    columns = world.transpose(0, 2, 1).reshape(-1, 3)[figure.freedoms]
    twists[m - len(columns) :, :3] = columns
    twists[m - len(columns) :, 3:] = cross(
        joints[figure.owners[m - len(columns) :]], columns
    )
    rates = state.rates.ravel()[figure.freedoms]
    if figure.free:
        twists[:6] = np.eye(6)[[3, 4, 5, 0, 1, 2]]
        rates = np.concatenate([state.velocity, state.spin, rates])
    motion = figure.moved @ (twists * rates[:, None])
    spins = motion[:, :3]
    velocities = motion[:, 3:] + cross(spins, arms)
    inertias = turns @ figure.inertias @ turns.transpose(0, 2, 1)
    return Pose(
        figure, state, turns, state.place + joints, state.place + arms, arms, spins, velocities,
        inertias, twists,
    )


class Places(NamedTuple):
    """Where carried links are at k times, in the carrier's frame.

    Attributes:
        joints: (k, n, 3) m.
        turns: (k, n, 3, 3) of the links.
        turned: (k, n, 3, 3) J of the joints, see `turning`.
    """

    joints: np.ndarray
    turns: np.ndarray
    turned: np.ndarray


def places(figure: Figure, angles: np.ndarray, references: np.ndarray) -> Places:
    """Where carried links are at many angles at once.

    Args:
        figure: the links; something carries them.
        angles: (k, n, 3) coordinates of the joints, rad.
        references: (n, 3, 3) turns from rest from which the angles count.
    """
    x = (angles[:, :, None, :] @ figure.axes)[:, :, 0]
    own, turned = (m.reshape(*x.shape, 3) for m in turning(x.reshape(-1, 3)))
    turns = passed_down(figure, figure.bases @ references @ own)
    joints = figure.lines @ apply(_above(figure, turns), figure.places)
    return Places(joints, turns[:, :-1], turned)


def moving(figure: Figure, at: Places, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, n, 3) spins of carried links, rad/s, and (k, n, 3) velocities of what of each is at
    the root's place, m/s, in the carrier's frame.

    Args:
        figure: the links.
        at: where they are.
        rates: (k, n, 3) of the joints, rad/s.
    """
    rate = (rates[:, :, None, :] @ figure.axes)[:, :, 0]
    relative = apply(at.turns, apply(at.turned, rate))  # spins against the parents
    return figure.lines @ relative, figure.lines @ rotations.cross(at.joints, relative)


def biases(at: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations with y'' = 0: (n, 3) of the links' turns, rad/s^2, and of their centres, m/s^2.

    Args:
        at: places and motion of the links.
    """
    figure, state = at.figure, at.state
    x = (state.angles[:, None, :] @ figure.axes)[:, 0]
    rate = (state.rates[:, None, :] @ figure.axes)[:, 0]
    # Of the joints: turning of a link against its parent, and how that changes by itself.
    relative = apply(at.turns, apply(jacobian(x), rate))
    by_itself = apply(at.turns, jacobian_rate(x, rate)) + cross(at.spins, relative)
    on_carrier = (figure.parents < 0)[:, None]
    parent = np.where(figure.parents < 0, 0, figure.parents)
    carrier = rotations.to_matrix(state.turn[None]) if figure.free else _ONE[None]
    offsets = apply(_above(figure, np.concatenate([at.turns, carrier])), figure.places)
    above_spins = np.where(on_carrier, state.spin if figure.free else 0.0, at.spins[parent])
    spin_bias = figure.lines @ by_itself
    above_bias = np.where(on_carrier, 0.0, spin_bias[parent])
    swing = cross(above_spins, offsets)
    joint_bias = figure.lines @ (
        cross(above_bias, offsets) + cross(above_spins, swing)
    )
    arms = at.centres - at.joints
    bias = (
        joint_bias
        + cross(spin_bias, arms)
        + cross(at.spins, cross(at.spins, arms))
    )
    return spin_bias, bias


def _above(figure: Figure, turns: np.ndarray) -> np.ndarray:
    """(..., n, 3, 3) turns of what links hang on, the carrier's being the last of `turns`."""
    return turns[..., figure.parents, :, :]


def rebased(figure: Figure, state: State) -> State:
    """The same state, angles of ball joints counted from where they are.

    Rotation vectors end at a whole turn; whoever lets joints turn that far moves their
    reference along. Hinges need none, and what swings without twisting has none.

    Args:
        figure: the links.
        state: where they are and how they move.

    Returns:
        The state with angles of 0 at ball joints, their rates being their spins.
    """
    ball = (np.abs(figure.axes).sum(axis=2) > 0.0).all(axis=1)
    x = (state.angles[:, None, :] @ figure.axes)[:, 0]
    spins = apply(jacobian(x), (state.rates[:, None, :] @ figure.axes)[:, 0])
    references = np.eye(3) if state.references is None else state.references
    moved = references @ turning(x)[0]
    return state._replace(
        angles=np.where(ball[:, None], 0.0, state.angles),
        rates=np.where(ball[:, None], apply(figure.axes, spins), state.rates),
        references=np.where(ball[:, None, None], moved, references),
    )


def passed_down(figure: Figure, own: np.ndarray) -> np.ndarray:
    """(..., n + 1, 3, 3) turns of links against the root's frame, which is the last itself.

    Args:
        figure: the links.
        own: (..., n, 3, 3) turns against the parents.

    Returns:
        Products down the tree: each round a link's turn reaches up twice as far.
    """
    turns = np.concatenate([own, np.broadcast_to(_ONE, (*own.shape[:-3], 1, 3, 3))], axis=-3)
    for above in figure.jumps:
        turns[..., :-1, :, :] = turns[..., above, :, :] @ turns[..., :-1, :, :]
    return turns


def mass_matrix(figure: Figure, at: Pose) -> np.ndarray:
    """(m, m) M, kg m^2 (kg, kg m where a free root is concerned).

    Args:
        figure: the links.
        at: their places.
    """
    # Of all that hangs on each link: mass, mass times place, moments about the root's place.
    n, arms = len(figure.masses), at.arms
    own = np.empty((n, 13))
    own[:, 0] = figure.masses
    own[:, 1:4] = figure.masses[:, None] * arms
    outer = own[:, 1:4, None] * arms[:, None, :]
    trace = outer[:, 0, 0] + outer[:, 1, 1] + outer[:, 2, 2]
    own[:, 4:] = (at.inertias - outer + trace[:, None, None] * _ONE).reshape(n, 9)
    hanging = (figure.lines.T @ own)[figure.owners]
    spins, velocities, moments = at.twists[:, :3], at.twists[:, 3:], hanging[:, 1:4]
    momenta = np.empty_like(at.twists)
    momenta[:, :3] = apply(hanging[:, 4:].reshape(-1, 3, 3), spins)
    momenta[:, :3] += cross(moments, velocities)
    momenta[:, 3:] = hanging[:, :1] * velocities + cross(spins, moments)
    upper = (at.twists @ momenta.T) * figure.above
    return upper + upper.T


def generalised(at: Pose, forces: np.ndarray, torques: np.ndarray) -> np.ndarray:
    """(m,) what forces on the centres of mass, and torques, do along the freedoms.

    Args:
        at: places of the links.
        forces: (n, 3) N.
        torques: (n, 3) N m.
    """
    wrenches = np.concatenate([torques + cross(at.arms, forces), forces], axis=1)
    return np.einsum("ij,ij->i", at.twists, at.figure.moved.T @ wrenches)


def along(at: Pose, link: int, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """(m,) what rates do to the velocity of a point of a link in a direction; of a force there
    what it does along the freedoms.

    Args:
        at: places of the links.
        link: which one.
        point: (3,) in the carrier's frame, m.
        direction: (3,) likewise.
    """
    moment = rotations.cross(point - at.state.place, direction)
    return at.figure.moved[link] * (at.twists @ np.concatenate([moment, direction]))


def bias_forces(figure: Figure, at: Pose) -> np.ndarray:
    """(m,) b: what it takes that all freedoms go on at their rates.

    Args:
        figure: the links.
        at: their places and motion.
    """
    spin_bias, bias = biases(at)
    forces = figure.masses[:, None] * bias
    torques = apply(at.inertias, spin_bias) + cross(
        at.spins, apply(at.inertias, at.spins)
    )
    return generalised(at, forces, torques)


def carried_forces(figure: Figure, at: Pose, carrier: Carrier) -> np.ndarray:
    """(m,) what the motion of the carrier, and gravity, do along the freedoms.

    In the carrier's frame a link with the centre r, velocity v and spin w feels the
    force -m (a + alpha x r + o x (o x r) + 2 o x v - g) and the torque
    -(I alpha + I (o x w) + o x I o + o x I w + w x I o), with o the carrier's spin.

    Args:
        figure: the links.
        at: their places and motion.
        carrier: how the carrier moves.
    """
    # Rows times these are cross products with o and alpha.
    by_spin, by_rate = crossing(np.stack([carrier.spin, carrier.spin_rate])).transpose(0, 2, 1)
    felt = (
        (carrier.acceleration - carrier.gravity)
        + at.centres @ (by_rate + by_spin @ by_spin)
        + at.velocities @ (2.0 * by_spin)
    )
    torque = (
        apply(at.inertias, carrier.spin_rate + at.spins @ by_spin)
        + apply(at.inertias, carrier.spin + at.spins) @ by_spin
        + cross(at.spins, at.inertias @ carrier.spin)
    )
    return generalised(at, -figure.masses[:, None] * felt, -torque)


def accelerations(figure: Figure, at: Pose, forces: np.ndarray) -> np.ndarray:
    """(m,) y'' = M^-1 (Q - b): forward dynamics.

    Args:
        figure: the links.
        at: their places and motion.
        forces: (m,) Q, without what keeps the rates.
    """
    return np.linalg.solve(mass_matrix(figure, at), forces - bias_forces(figure, at))
