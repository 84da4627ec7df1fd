# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion hands to one of another family that goes on from it.

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

import numpy as np

from ...solvers import rotations
from ...solvers.dynamics import exponential
from ...solvers.motion import BodyState
from .tracks import ROOT, RoleTracks

SETTLES = 0.5  # s in which what a pose differs by has decayed
AT = 1e-6  # s: a contact that ends so near to a seam reaches it


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


def hand_over(tracks: RoleTracks, body: BodyState | None = None) -> Handover:
    """How a figure is at the end of its tracks.

    Rates are those of the parabola through the last three samples, exact for constant
    acceleration; of two samples, their mean.

    Args:
        tracks: of the motion that ends.
        body: how its body is then.
    """
    time = tracks.time
    turn = {role: values[-1] for role, values in tracks.rotation.items()}
    spinning = {}
    for role, values in tracks.rotation.items():
        # Against the last pose: small angles, whose vector is as good as a place.
        back = rotations.conjugate(values[-1])
        off = rotations.to_rotation_vector(rotations.multiply(values[-3:], back))
        spinning[role] = _last_rate(off, time)
    return Handover(
        body,
        {role: values[-1] for role, values in tracks.position.items()},
        {role: _last_rate(values[-3:], time) for role, values in tracks.position.items()},
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


def taken_over(tracks: RoleTracks, before: Handover, settles: float = SETTLES) -> RoleTracks:
    """Tracks that begin as another motion ends, and soon are as they were.

    Args:
        tracks: of the motion that begins, at about the place where the other ends.
        before: how the figure is at the end of the other.
        settles: s in which the difference decays.

    Returns:
        The tracks. A foot that stands in both stays where it stood, and is where it was to be
        when it has been in the air; one that has yet to come down stands only then.
    """
    first = float(tracks.time[0])
    # Role -> when the difference begins to go, and in how long.
    goes: dict[str, tuple[float, float]] = {}
    contacts = []
    for contact in tracks.contacts:
        roles = {contact.role, *contact.limb}
        if contact.start > first + AT:
            contacts.append(contact)
        elif contact.role in before.standing:
            later = [c.start for c in tracks.contacts if c.role == contact.role]
            swing = min((t for t in later if t > contact.end + AT), default=np.inf) - contact.end
            goes |= dict.fromkeys(roles, (contact.end, min(max(swing, AT), settles)))
            off = before.place[contact.role] - tracks.position[contact.role][0]
            contacts.append(replace(contact, position=contact.position + off))
        elif contact.end > first + settles:
            contacts.append(replace(contact, start=first + settles))

    def gone(role: str, off: np.ndarray, rate: np.ndarray) -> np.ndarray:
        since, lasts = goes.get(role, (first, settles))
        return decay(tracks.time - since, off, 0.0 * rate if role in goes else rate, lasts)

    position, rotation = dict(tracks.position), dict(tracks.rotation)
    for role in position.keys() & before.place.keys():
        values = position[role]
        rate = before.velocity[role] - _first_rate(values, tracks.time)
        position[role] = values + gone(role, before.place[role] - values[0], rate)
    for role in rotation.keys() & before.turn.keys():
        values = rotation[role]
        back = rotations.conjugate(values[0])
        off = rotations.to_rotation_vector(rotations.multiply(before.turn[role], back))
        ahead = rotations.to_rotation_vector(rotations.multiply(values[:3], back))
        turned = rotations.from_rotation_vector(off)
        spin = before.spinning[role] - rotations.rotate(turned, _first_rate(ahead, tracks.time))
        rate = np.linalg.solve(exponential.jacobian(-off[None])[0], spin)
        amount = rotations.from_rotation_vector(gone(role, off, rate))
        rotation[role] = rotations.continuous(rotations.multiply(amount, values))
    return replace(tracks, position=position, rotation=rotation, contacts=tuple(contacts))
