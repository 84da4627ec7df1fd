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
4). What carries the figure shows as forces on the links: its acceleration, its turning,
and gravity as it stands in its frame. A figure that nothing carries ("free") has six
freedoms more.

Of about 20 links the dense matrix is as quick as an algorithm of linear order, and all
of it is a few products of arrays; only turns are passed down the tree one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .. import rotations
from ..errors import SettingError
from .exponential import jacobian, jacobian_rate


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
        ancestors: (n, n) bool, made here: which joints (columns) move which links (rows).
        freedoms: (m,) made here: which of the 3 n coordinates are freedoms.
    """

    parents: np.ndarray
    places: np.ndarray
    rests: np.ndarray
    axes: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    free: bool = False
    ancestors: np.ndarray = field(init=False, repr=False)
    freedoms: np.ndarray = field(init=False, repr=False)

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
        # Which links a joint moves, and which of 3 n coordinates are freedoms.
        object.__setattr__(self, "ancestors", lines)
        object.__setattr__(self, "freedoms", np.flatnonzero(lengths.ravel() > 0.5))


class State(NamedTuple):
    """Where the links are and how they move.

    Attributes:
        angles: (n, 3) coordinates y of the joints, rad; 0 where there is no freedom.
        rates: (n, 3) y', rad/s.
        references: (n, 4) turn from rest from which the angles count, or None.
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
        turns: (n, 4) of the links.
        joints: (n, 3) m.
        centres: (n, 3) centres of mass, m.
        spins: (n, 3) rad/s.
        joint_velocities: (n, 3) m/s.
        velocities: (n, 3) of the centres of mass, m/s.
        inertias: (n, 3, 3) about the centres of mass, kg m^2.
        turning: (n, m, 3) J_w, transposed: what a rate does to a link's spin.
        moving: (n, m, 3) J_v, transposed: to its centre's velocity.
        spin_bias: (n, 3) angular acceleration with y'' = 0, rad/s^2.
        bias: (n, 3) acceleration of the centres with y'' = 0, m/s^2.
    """

    turns: np.ndarray
    joints: np.ndarray
    centres: np.ndarray
    spins: np.ndarray
    joint_velocities: np.ndarray
    velocities: np.ndarray
    inertias: np.ndarray
    turning: np.ndarray
    moving: np.ndarray
    spin_bias: np.ndarray
    bias: np.ndarray


def pose(figure: Figure, state: State) -> Pose:
    """Places, velocities and Jacobians of all links.

    Args:
        figure: the links.
        state: where they are and how they move.

    Returns:
        All that the equations of motion are made of.
    """
    lines = figure.ancestors
    x = (state.angles[:, None, :] @ figure.axes)[:, 0]
    rate = (state.rates[:, None, :] @ figure.axes)[:, 0]
    own = rotations.from_rotation_vector(x)
    if state.references is not None:
        own = rotations.multiply(state.references, own)
    turns = passed_down(figure.parents, rotations.multiply(figure.rests, own), state.turn)
    matrices = rotations.to_matrix(turns)
    on_carrier = figure.parents < 0
    parent = np.where(on_carrier, 0, figure.parents)
    above = matrices[parent]
    above[on_carrier] = rotations.to_matrix(state.turn[None])[0]

    offsets = (above @ figure.places[:, :, None])[:, :, 0]
    arms = (matrices @ figure.centres[:, :, None])[:, :, 0]
    joints = state.place + lines @ offsets
    centres = joints + arms

    # Of the joints: turning of a link against its parent, and how that changes by itself.
    turned = jacobian(x)
    world = matrices @ turned @ figure.axes.transpose(0, 2, 1)  # (n, 3, 3), columns are axes
    relative = (matrices @ (turned @ rate[:, :, None]))[:, :, 0]
    by_itself = (matrices @ jacobian_rate(x, rate)[:, :, None])[:, :, 0]
    spins = state.spin + lines @ relative
    above_spins = np.where(on_carrier[:, None], state.spin, spins[parent])
    by_itself = by_itself + rotations.cross(spins, relative)
    spin_bias = lines @ by_itself
    above_bias = np.where(on_carrier[:, None], 0.0, spin_bias[parent])

    swing = rotations.cross(above_spins, offsets)
    joint_velocities = state.velocity + lines @ swing
    velocities = joint_velocities + rotations.cross(spins, arms)
    joint_bias = lines @ (
        rotations.cross(above_bias, offsets) + rotations.cross(above_spins, swing)
    )
    bias = (
        joint_bias
        + rotations.cross(spin_bias, arms)
        + rotations.cross(spins, rotations.cross(spins, arms))
    )

    columns = world.transpose(0, 2, 1).reshape(-1, 3)[figure.freedoms]
    owner = figure.freedoms // 3
    moved = lines[:, owner, None]
    turning = np.where(moved, columns, 0.0)
    moving = rotations.cross(turning, centres[:, None] - joints[owner])
    if figure.free:
        n, along = len(joints), np.broadcast_to(np.eye(3), (len(joints), 3, 3))
        root_turning = np.concatenate([np.zeros((n, 3, 3)), along], axis=1)
        root_moving = np.concatenate(
            [along, rotations.cross(along, (centres - state.place)[:, None])], axis=1
        )
        turning = np.concatenate([root_turning, turning], axis=1)
        moving = np.concatenate([root_moving, moving], axis=1)
    inertias = matrices @ figure.inertias @ matrices.transpose(0, 2, 1)
    return Pose(
        turns, joints, centres, spins, joint_velocities, velocities, inertias,
        turning, moving, spin_bias, bias,
    )  # fmt: skip


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
    spins = _apply(jacobian(x), (state.rates[:, None, :] @ figure.axes)[:, 0])
    references = rotations.identity(len(x)) if state.references is None else state.references
    moved = rotations.multiply(references, rotations.from_rotation_vector(x))
    return state._replace(
        angles=np.where(ball[:, None], 0.0, state.angles),
        rates=np.where(ball[:, None], _apply(figure.axes, spins), state.rates),
        references=np.where(ball[:, None], moved, references),
    )


def passed_down(parents: np.ndarray, own: np.ndarray, carrier: np.ndarray) -> np.ndarray:
    """(n, 4) turns of links against the carrier's, from those against their parents.

    Args:
        parents: (n,) index of the parent, -1 for none.
        own: (n, 4) turns against the parents.
        carrier: (4,) turn of what carries them.

    Returns:
        Products down the tree.
    """
    # Numbers of Python: one product of arrays of four takes as long as twenty of these.
    done: list[tuple[float, float, float, float]] = []
    root = tuple(carrier.tolist())
    for parent, (bw, bx, by, bz) in zip(parents.tolist(), own.tolist(), strict=True):
        aw, ax, ay, az = root if parent < 0 else done[parent]
        done.append(
            (
                aw * bw - ax * bx - ay * by - az * bz,
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
            )
        )
    return np.array(done)


def mass_matrix(figure: Figure, at: Pose) -> np.ndarray:
    """(m, m) M, kg m^2 (kg, kg m where a free root is concerned).

    Args:
        figure: the links.
        at: their places.
    """
    m = at.turning.shape[1]
    turning = at.turning.transpose(0, 2, 1).reshape(-1, m)
    moving = at.moving.transpose(0, 2, 1).reshape(-1, m)
    heavy = (at.inertias @ at.turning.transpose(0, 2, 1)).reshape(-1, m)
    return turning.T @ heavy + moving.T @ (np.repeat(figure.masses, 3)[:, None] * moving)


def generalised(at: Pose, forces: np.ndarray, torques: np.ndarray) -> np.ndarray:
    """(m,) what forces on the centres of mass, and torques, do along the freedoms.

    Args:
        at: places of the links.
        forces: (n, 3) N.
        torques: (n, 3) N m.
    """
    m = at.turning.shape[1]
    turning = at.turning.transpose(1, 0, 2).reshape(m, -1)
    moving = at.moving.transpose(1, 0, 2).reshape(m, -1)
    return turning @ torques.ravel() + moving @ forces.ravel()


def bias_forces(figure: Figure, at: Pose) -> np.ndarray:
    """(m,) b: what it takes that all freedoms go on at their rates.

    Args:
        figure: the links.
        at: their places and motion.
    """
    forces = figure.masses[:, None] * at.bias
    torques = _apply(at.inertias, at.spin_bias) + rotations.cross(
        at.spins, _apply(at.inertias, at.spins)
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
    o, alpha = carrier.spin, carrier.spin_rate
    felt = (
        carrier.acceleration
        - carrier.gravity
        + rotations.cross(alpha, at.centres)
        + rotations.cross(o, rotations.cross(o, at.centres) + 2.0 * at.velocities)
    )
    turned = _apply(at.inertias, np.broadcast_to(o, at.spins.shape))
    torque = (
        _apply(at.inertias, alpha + rotations.cross(o, at.spins))
        + rotations.cross(o, turned + _apply(at.inertias, at.spins))
        + rotations.cross(at.spins, turned)
    )
    return generalised(at, -figure.masses[:, None] * felt, -torque)


def _apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (matrices @ vectors[:, :, None])[:, :, 0]


def accelerations(figure: Figure, at: Pose, forces: np.ndarray) -> np.ndarray:
    """(m,) y'' = M^-1 (Q - b): forward dynamics.

    Args:
        figure: the links.
        at: their places and motion.
        forces: (m,) Q, without what keeps the rates.
    """
    return np.linalg.solve(mass_matrix(figure, at), forces - bias_forces(figure, at))
