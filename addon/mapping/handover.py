# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion hands to one of another family that goes on from it.

Both move a whole figure (role tracks), or both turn joints (joint tracks); what follows says
"role" for either.

Motions of one family are solved as one. Where the next is of another family, it gets to know
how the body is at the end of the one before, and begins there; what its own pose and pace
differ by at that instant decays over its first moments (the difference itself is a smooth
motion, so that place and velocity go on). A foot that stands stays where it stands: what it is
off by goes while it is in the air.

Source: Bollo, "Inertialization", GDC 2018, for decaying the difference in place of a cross-fade.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from ...solvers import rotations
from ...solvers.clock import Clock
from ...solvers.dynamics import exponential
from ...solvers.motion import BodyState
from .tracks import (
    BOARD,
    FOOT,
    ROOT,
    SIDES,
    Contact,
    JointTracks,
    RoleTracks,
    Tracks,
    side_role,
)

SETTLES = 0.5  # s in which what a pose differs by has decayed
AT = 1e-6  # s: a contact that ends so near to a seam reaches it
NEAR = 1e-5  # s between instants that tell rates
UNKNOWN: Mapping[str, np.ndarray] = MappingProxyType({})
SWING = 0.25  # s that a foot takes at least to come down elsewhere

_Any = TypeVar("_Any", RoleTracks, JointTracks, Tracks)


@dataclass(frozen=True)
class Handover:
    """How a figure is at the end of a motion.

    Attributes:
        body: how its body is, as families that solve bodies read it; None where the motion
            has none.
        place: role -> (3,) m, in the world.
        velocity: role -> (3,) m/s.
        turn: role -> (4,) unit quaternion.
        spinning: role -> (3,) angular velocity in the world, rad/s.
        standing: roles that a contact fixes at that instant.
    """

    body: BodyState | None = None
    place: Mapping[str, np.ndarray] = field(default_factory=dict)
    velocity: Mapping[str, np.ndarray] = field(default_factory=dict)
    turn: Mapping[str, np.ndarray] = field(default_factory=dict)
    spinning: Mapping[str, np.ndarray] = field(default_factory=dict)
    standing: frozenset[str] = frozenset()

    @property
    def yaw(self) -> float:
        """Which way its root faces on the ground, radians, 0 along -Y."""
        ahead = rotations.rotate(self.turn[ROOT], np.array((0.0, -1.0, 0.0)))
        return float(np.arctan2(ahead[0], -ahead[1]))

    def state(self) -> BodyState:
        """How its body is, found from its root where the motion before has none."""
        if self.body is not None:
            return self.body
        speed = float(np.linalg.norm(self.velocity[ROOT]))
        return BodyState(self.place[ROOT], self.yaw, speed)


def _parts(tracks: Tracks) -> tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]:
    """Places and turns."""
    if isinstance(tracks, JointTracks):
        return tracks.place, tracks.turn
    return tracks.position, tracks.rotation


def hand_over(
    tracks: Tracks, body: BodyState | None = None, near: Tracks | None = None
) -> Handover:
    """How a figure, or each joint, is at the end of its tracks.

    Rates are those of the parabola through the last three samples, exact for constant
    acceleration; of two samples, their mean.

    Args:
        tracks: of the motion that ends.
        body: how its body is then.
        near: the same at instants close to each other, the last three at its end, that tell its
            rates; None: the samples do.
    """
    position, rotation = _parts(tracks if near is None else near)
    time = (tracks if near is None else near).time
    turn = {role: values[-1] for role, values in rotation.items()}
    spinning = {}
    for role, values in rotation.items():
        # Against the last pose: small angles, whose vector is as good as a place.
        back = rotations.conjugate(values[-1])
        off = rotations.to_rotation_vector(rotations.multiply(values[-3:], back))
        spinning[role] = _last_rate(off, time)
    return Handover(
        body,
        {role: values[-1] for role, values in position.items()},
        {role: _last_rate(values[-3:], time) for role, values in position.items()},
        turn,
        spinning,
        frozenset(c.role for c in tracks.contacts if c.start <= time[-1] - AT <= c.end),
    )


def _last_rate(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Rate at the last sample, from up to three."""
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    step = float(time[-1] - time[-2])
    if len(values) < 3:
        return (values[-1] - values[-2]) / step
    return (3.0 * values[-1] - 4.0 * values[-2] + values[-3]) / (2.0 * step)


def _first_rate(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Rate at the first sample, from up to three."""
    return -_last_rate(values[2::-1] if len(values) > 2 else values[::-1], time[:3])


def decay(time: np.ndarray, off: np.ndarray, rate: np.ndarray, settles: float) -> np.ndarray:
    """A difference that is gone after some time, with its first value and rate.

    e(s) = e0 (1 - 10 s^3 + 15 s^4 - 6 s^5) + v0 T (s - 6 s^3 + 8 s^4 - 3 s^5), s = t / T: of
    all polynomials of degree five the one that begins with e0, v0 and no acceleration and ends
    with no value, rate or acceleration.

    Args:
        time: (n,) s since it began.
        off: (k,) what it is at first.
        rate: (k,) its rate then, per s.
        settles: s in which it decays, above 0.

    Returns:
        (n, k).
    """
    s = np.clip(np.asarray(time, dtype=float) / settles, 0.0, 1.0)[:, None]
    s3 = s * s * s
    place = 1.0 - s3 * (10.0 + s * (6.0 * s - 15.0))
    pace = s - s3 * (6.0 + s * (3.0 * s - 8.0))
    return place * off + settles * pace * rate


def at_the_ends(
    tracks: _Any, first: Mapping[str, np.ndarray] = UNKNOWN,
    last: Mapping[str, np.ndarray] = UNKNOWN,
) -> _Any:
    """Tracks at three instants close to each other at their start, and three at their end.

    They lie on the parabolas through the first and the last three samples, whose rates there are
    the tracks': exact for constant acceleration; or turn as fast as is known.

    Args:
        tracks: of three rows or more, on an even clock.
        first: role -> (3,) angular velocity at their start, rad/s, where it is known better than
            from samples; as in `Handover.spinning`.
        last: the same at their end.
    """
    time = tracks.time
    step = float(time[1] - time[0])
    rows = np.concatenate((NEAR * np.arange(3.0), time[-1] - time[0] - NEAR * np.arange(3.0)[::-1]))
    clock = Clock.even(time[0] + rows, 1)
    # From -1, 0 and 1 about the middle one of the three.
    s = np.concatenate((rows[:3] / step - 1.0, 1.0 - NEAR / step * np.arange(3.0)[::-1]))
    weights = np.stack((0.5 * s * (s - 1.0), 1.0 - s * s, 0.5 * s * (s + 1.0)), axis=1)

    def along(values: np.ndarray) -> np.ndarray:
        return np.concatenate((weights[:3] @ values[:3], weights[3:] @ values[-3:]))

    def turned(values: np.ndarray) -> np.ndarray:
        middles = np.repeat(values[[1, -2]], 3, axis=0)
        three = np.concatenate((values[:3], values[-3:]))
        off = rotations.to_rotation_vector(
            rotations.multiply(three, rotations.conjugate(middles))
        )
        return rotations.multiply(rotations.from_rotation_vector(along(off)), middles)

    position, rotation = _parts(tracks)
    position = {role: along(values) for role, values in position.items()}
    close = {role: turned(values) for role, values in rotation.items()}
    for spins, row, rows in ((first, 0, slice(3)), (last, -1, slice(3, 6))):
        since = clock.time[rows, None] - time[row]
        for role, spin in spins.items():
            amount = rotations.from_rotation_vector(since * spin)
            close[role][rows] = rotations.multiply(amount, rotation[role][row])
    rotation = close
    if isinstance(tracks, JointTracks):
        return JointTracks(clock, rotation, position, contacts=tracks.contacts)
    for role, angle in tracks.spins.items():  # between two samples it may have turned whole
        about = np.array((1.0, 0.0, 0.0))
        still = rotations.multiply(
            tracks.rotation[role], rotations.from_axis_angle(about, -angle)
        )
        spun = rotations.from_axis_angle(about, along(angle))
        rotation[role] = rotations.multiply(turned(still), spun)
    _stand_on_board(tracks, position, rotation)
    return RoleTracks(clock, position, rotation, tracks.contacts)


def _stand_on_board(
    tracks: RoleTracks, position: dict[str, np.ndarray], rotation: dict[str, np.ndarray]
) -> None:
    """Put feet where the board has them that they stand on all the time."""
    for foot in (side_role(FOOT, side) for side in SIDES):
        if BOARD not in position or foot not in position:
            continue
        back = rotations.conjugate(tracks.rotation[BOARD][0])
        place = rotations.rotate(back, tracks.position[foot][0] - tracks.position[BOARD][0])
        turn = rotations.multiply(back, tracks.rotation[foot][0])
        position[foot] = position[BOARD] + rotations.rotate(rotation[BOARD], place)
        rotation[foot] = rotations.multiply(rotation[BOARD], turn)


def taken_over(
    tracks: _Any, before: Handover, settles: float = SETTLES, near: _Any | None = None
) -> _Any:
    """Tracks that begin as another motion ends, and soon are as they were.

    Args:
        tracks: of the motion that begins, at about the place where the other ends.
        before: how the figure is at the end of the other.
        settles: s in which the difference decays.
        near: the tracks at instants close to each other, the first three at their start, that
            tell their rates; None: the samples do.

    Returns:
        The tracks. A foot that stands in both stays where it stood, and is where it was to be
        when it has been in the air; one that is to come down meanwhile, or was in the air and
        is to stand at once, stands when it has come there.
    """
    first = float(tracks.time[0])
    position, rotation = map(dict, _parts(tracks))
    close = tracks if near is None else near
    places, turns = _parts(close)
    off = {r: before.place[r] - position[r][0] for r in position.keys() & before.place.keys()}
    stays: dict[str, float] = {}  # role -> when it ceases to stand where it stood
    lands: dict[str, float] = {}  # role -> in how long it comes down elsewhere
    still: set[str] = set()  # those that do not move meanwhile, unlike the rest of their limbs
    contact: Contact
    contacts: list[Contact] = []
    for contact in sorted(tracks.contacts, key=lambda one: one.start):
        roles, begins = {contact.role, *contact.limb}, contact.start - first
        until = max((stays.get(role, -np.inf) for role in roles), default=-np.inf)
        stood = begins <= AT and bool(roles & before.standing)
        if stood or contact.start < until:
            stays |= dict.fromkeys(roles, max(until, contact.end))
            still.add(contact.role)
            moved = contact.position + off.get(contact.role, 0.0)
            contacts.append(replace(contact, position=moved))
            continue
        lasts = begins
        if begins < settles and until == -np.inf:
            soonest = settles if begins <= AT else max(begins, SWING)
            lasts = max((lands[role] for role in roles if role in lands), default=soonest)
        lands = dict.fromkeys(roles, lasts) | lands
        if contact.end > first + lasts:
            contacts.append(replace(contact, start=max(contact.start, first + lasts)))

    def gone(role: str, far: np.ndarray, rate: np.ndarray) -> np.ndarray:
        if role not in stays:
            return decay(tracks.time - first, far, rate, min(lands.get(role, settles), settles))
        swing = max(first + lands.get(role, np.inf) - stays[role], AT)
        later = decay(tracks.time - stays[role], far, 0.0 * rate, min(swing, settles))
        return later + decay(tracks.time - first, 0.0 * far, rate * (role not in still), settles)

    for role in off:
        values = position[role]
        rate = before.velocity[role] - _first_rate(places[role], close.time)
        position[role] = values + gone(role, off[role], rate)
    for role in rotation.keys() & before.turn.keys():
        values = rotation[role]
        back = rotations.conjugate(values[0])
        wide = rotations.to_rotation_vector(rotations.multiply(before.turn[role], back))
        ahead = rotations.to_rotation_vector(rotations.multiply(turns[role][:3], back))
        turned = rotations.from_rotation_vector(wide)
        spin = before.spinning[role] - rotations.rotate(turned, _first_rate(ahead, close.time))
        rate = np.linalg.solve(exponential.jacobian(-wide[None])[0], spin)
        amount = rotations.from_rotation_vector(gone(role, wide, rate))
        rotation[role] = rotations.continuous(rotations.multiply(amount, values))
    if isinstance(tracks, JointTracks):
        return replace(tracks, place=position, turn=rotation, contacts=tuple(contacts))
    _stand_on_board(tracks, position, rotation)
    return replace(tracks, position=position, rotation=rotation, contacts=tuple(contacts))
