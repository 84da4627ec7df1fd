# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into free-form motion, and what comes out: sequences, contacts, the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotations
from ..errors import SettingError
from ..motion import Problem
from .body import Body, Posture
from .pace import Pace


@dataclass(frozen=True, eq=False)
class Moving:
    """How a body moves at the first of its postures, which another motion has led to.

    Attributes:
        velocity: (3,) of the pelvis, m/s.
        spins: (n, 3) of the links against what carries them, the pelvis' in the world first,
            in their own frames, rad/s.
    """

    velocity: np.ndarray
    spins: np.ndarray


@dataclass(frozen=True)
class PostureSequence:
    """Postures in order, and when.

    Attributes:
        postures: two or more.
        times: (k,) at which they are taken, s; or None, and a pace says when.
        pace: distance over time along the sequence.
        duration: of the pace, s.
        shares: (k,) of the distance at which the postures stand, 0 .. 1; None spaces them
            by how far the body's mass moves between them.
        start: how the body moves at the first posture; None: it is at rest. Only with times.
        end_velocity: (3,) of the pelvis at the last posture, m/s; None: at rest. Only with
            times.
    """

    postures: Sequence[Posture]
    times: np.ndarray | None = None
    pace: Pace | None = None
    duration: float = 0.0
    shares: np.ndarray | None = None
    start: Moving | None = None
    end_velocity: np.ndarray | None = None

    @property
    def thrown(self) -> bool:
        """Whether the body is in the air all the time, as another motion has thrown it."""
        bears = any(posture.supports for posture in self.postures)
        return self.start is not None and self.times is not None and not bears

    def check(self, body: Body) -> None:
        """Refuse what gives no motion.

        Args:
            body: whose postures these are.

        Raises:
            SettingError: what, and what it has to be.
        """
        count = len(self.postures)
        if count < 2:
            raise SettingError("Postures", count, "two or more: a motion leads between them")
        names = {limb.name for limb in body.limbs}
        shape = (len(body.figure.parents), 4)
        for k, posture in enumerate(self.postures):
            if np.shape(posture.joints) != shape:
                raise SettingError(
                    f"Posture {k + 1}", f"of {len(posture.joints)} joints",
                    f"of this body, which has {shape[0]}",
                )
            unknown = sorted(set(posture.supports) - names)
            if unknown:
                raise SettingError(f"Support of posture {k + 1}", unknown[0], "a limb of the body")
            values = (posture.place, posture.turn, posture.joints, posture.whole_turns)
            if not all(np.isfinite(x).all() for x in values):
                raise SettingError(f"Posture {k + 1}", "undefined", "made of finite numbers")
        for k in () if self.thrown else (0, count - 1):
            if not self.postures[k].supports:
                raise SettingError(
                    f"Posture {k + 1}", "in the air", "supported: a motion begins and ends so"
                )
        if self.times is not None:
            self._check_row("Times of the postures", self.times, "s")
        elif self.pace is None:
            raise SettingError("Times of the postures", None, "given, or a pace with a duration")
        elif not self.duration > 0.0:
            raise SettingError("Duration", self.duration, "above 0 s")
        if self.shares is not None:
            self._check_row("Distances of the postures", self.shares, "of the whole")

    def _check_row(self, name: str, row: np.ndarray, unit: str) -> None:
        row = np.asarray(row, float)
        if row.shape != (len(self.postures),) or not np.isfinite(row).all():
            raise SettingError(name, row.tolist(), "one finite number for each posture")
        steps = np.diff(row)
        if not (steps > 0.0).all():
            k = int(np.argmin(steps))
            raise SettingError(
                f"Step from posture {k + 1} to {k + 2}", f"{steps[k]:g} {unit}", f"above 0 {unit}"
            )


def clean(posture: Posture) -> Posture:
    """A posture of arrays and unit quaternions.

    Args:
        posture: as it was given.
    """
    return Posture(
        np.asarray(posture.place, float),
        rotations.normalise(posture.turn),
        rotations.normalise(posture.joints),
        tuple(posture.supports),
        np.asarray(posture.whole_turns, float),
    )


@dataclass(frozen=True)
class Contact:
    """A limb that bears the body.

    Attributes:
        limb: its name.
        start: exact time of the touchdown, s.
        end: exact time of the liftoff, s.
        place: (3,) of its end, m.
    """

    limb: str
    start: float
    end: float
    place: np.ndarray


@dataclass(frozen=True)
class FreeformMotion:
    """A body over time.

    Attributes:
        times: (t,) s.
        place: (t, 3) of the pelvis, m.
        turn: (t, 4) of the pelvis, sign-continuous.
        joints: (t, n, 4) local turns of all links, that of the pelvis being none.
        centre: (t, 3) centre of mass, m.
        momenta: (f, 3) angular momentum about the centre of mass in each flight, kg m^2/s.
        flights: (f, 2) their exact times, s.
        contacts: who bears the body when.
        problems: what could not be had.
    """

    times: np.ndarray
    place: np.ndarray
    turn: np.ndarray
    joints: np.ndarray
    centre: np.ndarray
    momenta: np.ndarray
    flights: np.ndarray
    contacts: tuple[Contact, ...]
    problems: tuple[Problem, ...]
