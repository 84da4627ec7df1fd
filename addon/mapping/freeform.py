# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion of a figure: its roles as links with mass, and back. Numpy only.

All anatomical frames coincide in the rest pose, so that a link's turn against its parent is
its joint's. Limbs that bear the body are its legs and arms: two bones that are bent, as a rig's
inverse kinematics bends them, and what hangs beyond them on their control.

Shares of a person's mass are those of Winter (Biomechanics and Motor Control of Human Movement,
2009, table 4.1), hands and feet with their parts; those of animals are estimates.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.clock import Clock
from ...solvers.dynamics import Figure as Links
from ...solvers.dynamics.limbs import DENSITY, limbs
from ...solvers.freeform import Body, FreeformMotion, Limb, Posture
from ...solvers.freeform.body import Tie, links
from ...solvers.ik import limb_rotations, two_bone
from ...solvers.motion import Event, Problem
from ...solvers.rotations import (
    about_z,
    conjugate,
    continuous,
    dot,
    from_rotation_vector,
    identity,
    multiply,
    normalise,
    rotate,
    to_rotation_vector,
)
from .legged import pose_joints
from .legs import TIP, LegChain, LeggedFigure
from .signals import averaged
from .skateboarder import coasting
from .tracks import (
    BOARD,
    CHEST,
    ELBOW,
    FOOT,
    FRONT_TRUCK,
    HAND,
    HEAD,
    HEEL,
    KNEE,
    NECK,
    PELVIS,
    POLE_TIP,
    ROOT,
    SHOULDER,
    SIDES,
    SKI,
    SPINE,
    Contact,
    Figure,
    RoleTracks,
    base_role,
    only_turned,
    side_role,
)

UPPER, FORE = "upper_arm", "elbow_joint"  # links of an arm, by the joints that they hang on

PERSON = {
    "pelvis": 0.142, "spine": 0.139, "chest": 0.208, "neck": 0.015, "head": 0.066,
    "shoulder": 0.004, UPPER: 0.028, FORE: 0.016, "hand": 0.006,
    "thigh": 0.100, "shin": 0.0465, "foot": 0.0115, "toe": 0.003,
}
# Shares of an animal's mass; legs have the rest.
OF_TRUNK, OF_NECK, OF_HEAD, OF_TAIL = 0.62, 0.06, 0.05, 0.02
PALM, SKULL = 0.06, 0.10  # of the height: how far hands and heads go on where nobody says it
SIDEWAYS = 0.02  # sine of a limb's bend under which its plane is the upper bone's own
UPRIGHT = 0.4  # cosine of a pelvis' tilt from which it has a heading
SETTLES = 0.4  # s over which the root evens out heading and heights
STANDS = 0.03  # of a leg's length over the ground: a foot that stands
SUNK, LEVEL = 0.01, 0.85  # likewise in the ground; cosine of the tilt of toes that lie on it
PALM_STANDS = 0.16  # likewise the wrist of a hand
STILL = 1e-9  # m that the joint above a sole may move while it is at rest
NEAR = 1e-5  # s: over so short a time rates are read off


@dataclass(frozen=True, eq=False)
class RoleBody:
    """A figure as links that may bear it.

    Attributes:
        figure: its rest pose.
        names: role of each link; of arms, the joints that they hang on.
        body: the links, and legs and arms by the names that supports go by.
    """

    figure: LeggedFigure
    names: tuple[str, ...]
    body: Body

    @property
    def index(self) -> dict[str, int]:
        """Role -> number of its link."""
        return {name: i for i, name in enumerate(self.names)}

    @property
    def supports(self) -> tuple[str, ...]:
        """Names of the limbs that may bear it."""
        return tuple(limb.name for limb in self.body.limbs)


def supports_of(figure: LeggedFigure) -> tuple[str, ...]:
    """Names of the limbs that may bear a figure: its legs, then its arms.

    Args:
        figure: the rest pose.
    """
    return (*(leg.name for leg in figure.legs), *(side_role(HAND, s) for s in figure.arms))


def on_legs(figure: Figure | LeggedFigure) -> LeggedFigure | None:
    """A figure as its legs carry it.

    Args:
        figure: the rest pose; feet stand on skis, bent at their balls where heels are free, or
            both on one board.

    Returns:
        None of one that stands otherwise: on a bicycle.
    """
    if isinstance(figure, LeggedFigure):
        return figure
    if not rides(figure.joints):
        return None
    joints, legs = dict(figure.joints), []
    for side in SIDES:
        joints |= {
            f"thigh.{side}": figure.joints[f"hip.{side}"],
            f"shin.{side}": figure.joints[f"knee_joint.{side}"],
        }
        free = side_role(HEEL, side) in joints
        segments = ("thigh", "shin", "foot", *(("toe",) if free else ()))
        tip = BOARD if BOARD in joints else side_role(SKI, side)
        legs.append(LegChain(
            f"leg.{side}", 0, tuple(side_role(role, side) for role in segments), 0,
            side_role(KNEE, side), tip, foot=TIP,
        ))
    return LeggedFigure(
        "", joints, tuple(legs), (PELVIS, SPINE, CHEST), (NECK, HEAD), arms=SIDES,
        mass=figure.mass, height=figure.height,
    )


def rides(roles: Container[str]) -> bool:
    """Whether someone stands with both feet on what it rides.

    Args:
        roles: of the figure.
    """
    return BOARD in roles or side_role(SKI, "L") in roles


def on_one(figure: LeggedFigure) -> bool:
    """Whether all feet are on one board.

    Args:
        figure: the rest pose.
    """
    return all(leg.tip == BOARD for leg in figure.legs)


def _hung(figure: LeggedFigure) -> dict[str, str]:
    """Link -> what it hangs on, parents first; the pelvis hangs on nothing."""
    parents = {figure.trunk[0]: ""}
    rows: list[tuple[str, tuple[str, ...]]] = [
        (figure.trunk[0], figure.trunk[1:]), (figure.trunk[-1], figure.neck),
        (figure.trunk[0], figure.tail),
    ]
    for side in figure.arms:
        arm = tuple(side_role(role, side) for role in (SHOULDER, UPPER, FORE, HAND))
        rows.append((figure.trunk[-1], arm))
    rows += [(figure.carrier(leg), leg.limb) for leg in figure.legs]
    for parent, roles in rows:
        for role in roles:
            parents[role] = parent
            parent = role
    return parents


def _ends(figure: LeggedFigure, parents: Mapping[str, str]) -> np.ndarray:
    """(n, 3) from the joint of each link to its other end, m."""
    j = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
    after: dict[str, str] = {}
    for name, parent in parents.items():
        after.setdefault(parent, name)
    after |= {figure.trunk[-1]: figure.neck[0]} if figure.neck else {}
    after |= {leg.segments[-1]: leg.tip for leg in figure.legs}
    for roles, end in ((figure.neck, "muzzle"), (figure.neck, "vertex"), (figure.tail, "tail_tip")):
        if roles and end in j:
            after[roles[-1]] = end
    out = []
    for name in parents:
        if name in after:
            out.append(j[after[name]] - j[name])
        elif base_role(name) == HAND:
            along = j[name] - j[parents[name]]
            out.append(PALM * figure.height * normalise(along))
        else:
            out.append(np.array([0.0, 0.0, SKULL * figure.height]))
    return np.array(out)


def _shares(figure: LeggedFigure, names: Sequence[str], lengths: np.ndarray) -> np.ndarray:
    """(n,) of the mass that each link has."""
    bases = [base_role(name) for name in names]
    if set(bases) <= set(PERSON):
        found = np.array([PERSON[base] for base in bases])
        return found / found.sum()
    index = {name: i for i, name in enumerate(names)}
    found = np.zeros(len(names))

    def spread(roles: Sequence[str], share: float, thinner: float) -> None:
        at = [index[role] for role in roles]
        weight = lengths[at] * (1.0 - thinner * np.linspace(0.0, 1.0, len(at))) ** 2
        found[at] += share * weight / weight.sum()

    legs = 1.0 - OF_TRUNK - OF_NECK - OF_HEAD - OF_TAIL
    spread(figure.trunk, OF_TRUNK, 0.0)
    for roles, share in (
        (figure.neck[:-1], OF_NECK), (figure.neck[-1:], OF_HEAD), (figure.tail, OF_TAIL),
    ):
        spread(roles or figure.trunk, share, 0.5 if roles else 0.0)
    for leg in figure.legs:
        spread(leg.limb, legs / len(figure.legs), 0.85)
    for side in figure.arms:
        arm = tuple(side_role(role, side) for role in (SHOULDER, UPPER, FORE, HAND))
        spread(arm, PERSON[UPPER], 0.6)
    return found / found.sum()


def body_of(figure: LeggedFigure) -> RoleBody:
    """The links of a figure, with mass.

    Args:
        figure: the rest pose.
    """
    parents = _hung(figure)
    names = tuple(parents)
    index = {name: i for i, name in enumerate(names)}
    j = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
    n = len(names)
    above = np.array([index[parents[name]] if parents[name] else -1 for name in names])
    places = np.array([j[name] - j[parents[name]] if parents[name] else np.zeros(3)
                       for name in names])
    tips = _ends(figure, parents)
    lengths = np.maximum(np.linalg.norm(tips, axis=1), 1e-3 * figure.height)
    masses = figure.mass * _shares(figure, names, lengths)
    radii = np.maximum(np.sqrt(masses / (DENSITY * np.pi * lengths)), 1e-4 * figure.height)
    made = limbs(tips, radii, masses)
    axes = np.tile(np.eye(3), (n, 1, 1))
    axes[0] = 0.0
    tree = Links(
        above, places, identity(n), axes, made.masses, made.centres, made.inertias, free=True
    )
    bearing = [_leg(leg, j, index) for leg in figure.legs]
    for side in figure.arms:
        upper, fore, hand, pole = (side_role(r, side) for r in (UPPER, FORE, HAND, ELBOW))
        bearing.append(Limb(
            hand, (index[upper], index[fore]), j[hand] - j[fore], j[pole] - j[fore], index[hand]
        ))
    feet = [j[leg.control] - j[leg.tip] for leg in figure.legs]
    ties = (Tie(tuple(bearing[: len(feet)]), np.array(feet)),) if on_one(figure) else ()
    return RoleBody(figure, names, Body(tree, tuple(bearing), ties))


def _leg(leg: LegChain, joints: Mapping[str, np.ndarray], index: Mapping[str, int]) -> Limb:
    first, middle = leg.segments[leg.bend : leg.bend + 2]
    after = tuple(index[role] for role in leg.segments[leg.bend + 2 :])
    return Limb(
        leg.name, (index[first], index[middle]), joints[leg.control] - joints[middle],
        joints[leg.pole] - joints[middle], after[-1] if after else -1, after[:-1],
    )


# -- Poses of controls -----------------------------------------------------------------


def turns_of(body: RoleBody, tracks: RoleTracks) -> tuple[np.ndarray, np.ndarray]:
    """How the links of a figure are turned whose roles are somewhere.

    Args:
        body: the figure.
        tracks: its roles, as controls of a rig would have them.

    Returns:
        (t, 3) where the pelvis is, m, and (t, n, 4) turns of the links against their parents,
        the pelvis' in the world.
    """
    figure = body.figure
    rest = figure.joints
    joint, turn = pose_joints(tracks, figure)
    for side in figure.arms:
        shoulder, upper, fore, hand, pole = (
            side_role(role, side) for role in (SHOULDER, UPPER, FORE, HAND, ELBOW)
        )
        chest = figure.trunk[-1]
        collar = joint[chest] + rotate(turn[chest], rest[shoulder] - rest[chest])
        top = collar + rotate(turn[shoulder], rest[upper] - rest[shoulder])
        ends = ((upper, fore), (fore, hand))
        lengths = (float(np.linalg.norm(rest[b] - rest[a])) for a, b in ends)
        arm = two_bone(top, tracks.position[hand], tracks.position[pole], *lengths)
        turn[upper], turn[fore] = limb_rotations(
            (rest[upper], rest[fore], rest[hand]), rest[pole] - rest[fore], top, arm.middle,
            arm.tip, tracks.position[pole],
        )
    world = np.stack([turn[name] for name in body.names], axis=1)
    local = world.copy()
    parents = body.body.figure.parents
    local[:, 1:] = multiply(conjugate(world[:, parents[1:]]), world[:, 1:])
    return tracks.position[PELVIS], local


def from_the_ground(figure: LeggedFigure, tracks: RoleTracks) -> RoleTracks:
    """Roles of legs whose feet are turned from the ground up, with their controls' places.

    Args:
        figure: the rest pose.
        tracks: its roles; places of those that are only turned do not count.
    """
    position, rotation, rest = dict(tracks.position), dict(tracks.rotation), figure.joints
    fixed = on_one(figure)
    for side in SIDES:
        if side_role(HEEL, side) in rotation:  # free, and the foot turns about its ball
            rotation[side_role(FOOT, side)] = rotation[side_role(HEEL, side)]
    for leg in figure.legs:
        known = leg.control in position and not only_turned(leg.control) and not fixed
        below = leg.tip
        for role in reversed(leg.segments[leg.bend + 2 :]):
            if fixed or role not in rotation:
                rotation[role] = rotation[below]  # a boot on its ski
            if not known:
                way = rotate(rotation[role], rest[below] - rest[role])
                position[role] = position[below] - way
            below = role
    return replace(tracks, position=position, rotation=rotation)


def postures_of(
    body: RoleBody, tracks: RoleTracks, supports: Sequence[Sequence[str]], turns: np.ndarray
) -> list[Posture]:
    """Postures of a figure.

    Args:
        body: the figure.
        tracks: its roles, one row a posture.
        supports: limbs that bear it in each.
        turns: (k, 3) whole turns of the pelvis on the way to each.
    """
    place, local = turns_of(body, tracks)
    legs = [leg.name for leg in body.figure.legs] if on_one(body.figure) else []

    def borne(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(legs if set(legs) & set(names) else ()), *names)))

    return [
        Posture(place[k], local[k, 0], local[k], borne(supports[k]), turns[k])
        for k in range(len(place))
    ]


def standing_limbs(body: RoleBody, tracks: RoleTracks, ground: float) -> list[tuple[str, ...]]:
    """Limbs that are on the ground, for each row.

    Args:
        body: the figure.
        tracks: its roles.
        ground: height of the ground, m.
    """
    figure = body.figure
    leg = figure.leg_length
    joint, turn = pose_joints(tracks, figure)
    low = {}
    for chain in figure.legs:
        high = joint[chain.tip][:, 2] - ground
        # Toes that hang down over the ground do not stand on it; in it they are meant to.
        level = rotate(turn[chain.segments[-1]], np.array((0.0, 0.0, 1.0)))[:, 2] > LEVEL
        flat = level | (high < -SUNK * leg) | (chain.foot == TIP)
        low[chain.name] = (high <= STANDS * leg) & flat
    for side in figure.arms:
        hand = side_role(HAND, side)
        low[hand] = tracks.position[hand][:, 2] - ground <= PALM_STANDS * leg
    rows = len(tracks.position[PELVIS])
    return [tuple(name for name in low if low[name][k]) for k in range(rows)]


def moved(tracks: RoleTracks, turn: np.ndarray, origin: np.ndarray) -> RoleTracks:
    """Roles carried along with the ground that they stand on.

    Args:
        tracks: where they are.
        turn: (4,) of the ground.
        origin: (3,) where its origin comes to be, m.
    """
    return replace(
        tracks,
        position={role: rotate(turn, at) + origin for role, at in tracks.position.items()},
        rotation={role: multiply(turn, of) for role, of in tracks.rotation.items()},
    )


# -- Tracks ----------------------------------------------------------------------------


def tracks_of(
    body: RoleBody, motion: FreeformMotion, clock: Clock,
    root: tuple[np.ndarray, np.ndarray] | None = None,
) -> RoleTracks:
    """Where the roles of a figure are.

    Args:
        body: the figure.
        motion: how it moves, at the times of the clock.
        clock: when.
        root: (t, 3) where the root is, m, and (t, 4) how it is turned; None: it follows the body,
            evened out over the samples.

    Returns:
        Tracks of the roles that gaits have tracks of, too.
    """
    figure, index, rest = body.figure, body.index, body.figure.joints
    joints = motion.joints.copy(order="K")
    joints[:, 0] = motion.turn
    found = links(body.body, motion.place, joints)
    turn = {name: found.turns[:, i] for name, i in index.items()}
    joint = {name: found.joints[:, i] for name, i in index.items()}
    position = {PELVIS: joint[PELVIS]}
    rotation = {
        role: turn[role] for role in (*figure.trunk, *figure.neck, *figure.tail)
    }
    for chain in figure.legs:
        first, middle = chain.segments[chain.bend : chain.bend + 2]
        last = chain.segments[-1]
        joint[chain.tip] = joint[last] + rotate(turn[last], rest[chain.tip] - rest[last])
        turn[chain.tip] = turn[last]
        after = chain.segments[chain.bend + 2 :]
        for role in (*chain.limb[: chain.limb.index(first)], *after, chain.tip):
            rotation[role] = turn[role]
        position |= {role: joint[role] for role in (chain.control, chain.tip)}
        ends = (first, middle, chain.control)
        position[chain.pole] = pole_place(rest, ends, chain.pole, joint, turn)
        if chain.sling:
            position[chain.sling] = joint[chain.segments[0]]
    if on_one(figure):
        for chain in figure.legs:
            foot = rest[chain.control] - rest[chain.tip]
            position[chain.control] = position[chain.tip] + rotate(rotation[chain.tip], foot)
    rotation |= {
        heel: rotation[side_role(FOOT, side)] for side in SIDES
        if (heel := side_role(HEEL, side)) in rest
    }
    spins: Mapping[str, np.ndarray] = {}
    if FRONT_TRUCK in rest:
        wheels, spins = coasting(rest, position[BOARD], rotation[BOARD])
        rotation |= wheels
    for side in figure.arms:
        shoulder, upper, fore, hand, pole = (
            side_role(role, side) for role in (SHOULDER, UPPER, FORE, HAND, ELBOW)
        )
        rotation |= {shoulder: turn[shoulder], hand: turn[hand]}
        position[hand] = joint[hand]
        position[pole] = pole_place(rest, (upper, fore, hand), pole, joint, turn)
        held = side_role(POLE_TIP, side)
        if held in rest:
            position[held] = joint[hand] + rotate(turn[hand], rest[held] - rest[hand])
    contacts = _contacts(body, motion, position, turn, clock)
    feet = np.mean([position[chain.tip] for chain in figure.legs], axis=0)
    position[ROOT], rotation[ROOT] = root or _root(motion, clock, contacts, figure, feet)
    return RoleTracks(
        clock, position, {role: continuous(values) for role, values in rotation.items()},
        contacts, _events(motion), _sunk(figure, joint, contacts, clock.time), spins=spins,
    )


def _sunk(figure: LeggedFigure, joint, contacts, time: np.ndarray) -> tuple[Problem, ...]:
    """Legs whose knees, hocks or elbows are in the ground that their feet stand on."""
    out = []
    for chain in figure.legs:
        inner = chain.segments[chain.bend + 1 :]
        most, rows = SUNK * figure.leg_length, []
        for contact in (c for c in contacts if c.role == chain.tip):
            here = np.flatnonzero((time >= contact.start) & (time <= contact.end))
            low = np.min([joint[role][here, 2] for role in inner], axis=0) - contact.position[2]
            rows += [(-deep, when) for deep, when in zip(low, time[here], strict=True)
                     if -deep > most]
        if rows:
            deep, when = max(rows)
            out.append(Problem(
                "JOINT_IN_GROUND",
                f"{chain.name} bends up to {100.0 * deep:.1f} cm into the ground that it "
                "stands on",
                severity="WARNING", time=float(when), bone=chain.tip, amount=float(deep),
                remedy="Raise the body in the posture there",
            ))
    return tuple(out)


def pole_place(
    rest: Mapping[str, np.ndarray], ends: tuple[str, str, str], pole: str,
    joint: Mapping[str, np.ndarray], turn: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Where the point is that a limb's middle joint points to.

    Args:
        rest: role -> (3,) in the rest pose, m.
        ends: roles of the limb's first, middle and last joint.
        pole: role of the point.
        joint: role -> (t, 3) where they are, m.
        turn: role -> (t, 4) of the links.

    Returns:
        (t, 3) m.
    """
    first, middle, last = ends
    line = normalise(joint[last] - joint[first])
    bend = normalise(rest[pole] - rest[middle])
    size = float(np.linalg.norm(rest[middle] - rest[first]))
    out = (joint[middle] - joint[first]) / size + SIDEWAYS * rotate(turn[first], bend)
    out = normalise(out - dot(out, line)[:, None] * line)
    return joint[middle] + float(np.linalg.norm(rest[pole] - rest[middle])) * out


def _limb_roles(figure: LeggedFigure) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Limb -> roles that may be fixed while it bears, and roles that bring them there."""
    found = {}
    for leg in figure.legs:
        limb = (*filter(None, (leg.sling,)), *leg.limb, leg.pole, leg.tip)
        found[leg.name] = (tuple(dict.fromkeys((leg.tip, leg.control))), limb)
    for side in figure.arms:
        hand = side_role(HAND, side)
        limb = (side_role(SHOULDER, side), hand, side_role(ELBOW, side))
        found[hand] = ((hand,), limb)
    return found


def _contacts(
    body: RoleBody, motion: FreeformMotion, position, turn, clock: Clock
) -> tuple[Contact, ...]:
    """Spans in which feet and hands are fixed."""
    out: dict[tuple[str, float, float], Contact] = {}
    roles = _limb_roles(body.figure)
    first, last = float(clock.time[0]), float(clock.time[-1])
    for contact in motion.contacts:
        start, end = max(contact.start, first), min(contact.end, last)
        rows = np.flatnonzero((clock.time >= start - 1e-9) & (clock.time <= end + 1e-9))
        if end - start < 1e-9 or not len(rows):
            continue
        fixed, limb = roles[contact.limb]
        for role in fixed:
            places = position[role][rows]
            if np.abs(places - places[0]).max() <= STILL:
                one = out.get((role, start, end))  # a board, by the other foot
                limb = limb if one is None else tuple(dict.fromkeys((*one.limb, *limb)))
                out[role, start, end] = Contact(role, start, end, places[0].copy(), limb=limb)
    return tuple(sorted(out.values(), key=lambda c: c.start))


def _events(motion: FreeformMotion) -> tuple[Event, ...]:
    first, last = float(motion.times[0]), float(motion.times[-1])
    found = [
        Event(kind, float(when), contact.limb, contact.place)
        for contact in motion.contacts
        for kind, when in (("TOUCHDOWN", contact.start), ("LIFTOFF", contact.end))
        if first < when < last
    ]
    return tuple(sorted(found, key=lambda event: event.time))


def _root(
    motion: FreeformMotion, clock: Clock, contacts: Sequence[Contact], figure: LeggedFigure,
    feet: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """On the ground under the body, or its feet if these never stand; turned as the body is
    while it is upright."""
    time = clock.time
    spacing = float(time[1] - time[0]) if len(time) > 1 else 0.0
    up, ahead = (rotate(motion.turn, np.array(axis)) for axis in ((0, 0, 1.0), (0, -1.0, 0)))
    upright = np.flatnonzero(up[:, 2] > UPRIGHT)
    yaw = np.zeros(len(time))
    if len(upright):
        own = np.unwrap(np.arctan2(ahead[upright, 0], -ahead[upright, 1]))
        yaw = np.interp(time, time[upright], own)
    place = motion.place.copy()
    soles = [(0.5 * (c.start + c.end), c.position[2]) for c in contacts
             if c.role in {leg.tip for leg in figure.legs}]
    if not soles:
        place = feet.copy()
    else:
        when, high = np.array(sorted(soles)).T
        place[:, 2] = np.interp(time, when, high)
    if len(time) > 2:
        yaw = averaged(yaw, spacing, SETTLES)
        if soles:
            place[:, 2] = averaged(place[:, 2], spacing, SETTLES)
    return place, about_z(yaw)


# -- Chains ----------------------------------------------------------------------------


def rates_of(
    body: RoleBody, place: Mapping[str, np.ndarray], velocity: Mapping[str, np.ndarray],
    turn: Mapping[str, np.ndarray], spinning: Mapping[str, np.ndarray],
) -> tuple[RoleTracks, np.ndarray, np.ndarray]:
    """How a figure stands and moves whose roles are somewhere, and move.

    Args:
        body: the figure.
        place: role -> (3,) m.
        velocity: role -> (3,) m/s.
        turn: role -> (4,).
        spinning: role -> (3,) in the world, rad/s.

    Returns:
        One row of tracks; (3,) velocity of the pelvis, m/s; and (n, 3) spins of the links
        against their parents in their own frames, rad/s, the pelvis' in the world.
    """
    times = np.array([-NEAR, 0.0, NEAR])
    still = np.zeros(3)
    position = {
        role: at + times[:, None] * velocity.get(role, still) for role, at in place.items()
    }
    rotation = {
        role: multiply(
            from_rotation_vector(times[:, None] * spinning.get(role, still)),
            np.tile(q, (3, 1)),
        )
        for role, q in turn.items()
    }
    tracks = RoleTracks(Clock.running(3, 1.0 / NEAR), position, rotation)
    tracks = from_the_ground(body.figure, tracks)
    pelvis, local = turns_of(body, tracks)
    step = to_rotation_vector(multiply(conjugate(local[0]), local[2]))
    one = RoleTracks(
        Clock.running(1, 24.0), {role: x[1:2] for role, x in tracks.position.items()},
        {role: q[1:2] for role, q in tracks.rotation.items()},
    )
    return one, (pelvis[2] - pelvis[0]) / (2.0 * NEAR), step / (2.0 * NEAR)


def told_later(problems: Sequence[Problem], later: float, length: float) -> tuple[Problem, ...]:
    """Problems of a part of a motion, their times counted from its start.

    Args:
        problems: of the whole.
        later: when it begins, s.
        length: how long it is, s.
    """
    out = []
    for problem in problems:
        when = None if problem.time is None else problem.time - later
        until = None if problem.end_time is None else problem.end_time - later
        last = when if until is None else until
        if when is None or last is None or (last >= -1e-9 and when <= length + 1e-9):
            out.append(replace(problem, time=when, end_time=until))
    return tuple(out)


def standing_roles(figure: LeggedFigure, standing: frozenset[str]) -> tuple[str, ...]:
    """Limbs that bear the body where a motion before has fixed roles.

    Args:
        figure: the rest pose.
        standing: roles that contacts fix.
    """
    return tuple(
        name for name, (fixed, _limb) in _limb_roles(figure).items() if standing & set(fixed)
    )
