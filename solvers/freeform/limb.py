# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb's path through postures: by its joints, by its end, or between the two.

Joints run along quaternion curves (`turns.py`), the end along Catmull and Rom's spline.
Blended, the end runs at a share between where the joints bring it and that spline, and the
joints follow by `reach`, towards their own curve. All share one parameter, from which arc
length makes a true distance (Girard 1986, sections 2.2 and 2.3): in metres of the end, or
radians of the joints' turns together where they alone make the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import rotations
from ..curves import PathLength, catmull_rom
from ..errors import SettingError
from ..motion import Problem
from .body import Body, Limb
from .pace import PRESETS, Pace
from .problems import unreached
from .reach import limb_points, reach
from .turns import TurnCurve

SAME = 1e-5  # rad, m that postures differ by which are the same: poses are of single precision
LENGTH_ERROR = 1e-6  # of a path's length: constant speed is asked for within 1e-3


@dataclass(frozen=True)
class LimbMotion:
    """A limb along its path.

    Attributes:
        times: (t,) s.
        share: (t,) of the path's length.
        joints: (t, m, 4) local turns of its links, and of those beyond its tip.
        tip: (t, 3) its end, in the frame of the link that carries it, m.
        missing: (t,) from the end to where it was wanted, m.
        problems: what could not be had.
    """

    times: np.ndarray
    share: np.ndarray
    joints: np.ndarray
    tip: np.ndarray
    missing: np.ndarray
    problems: tuple[Problem, ...]


class LimbPath:
    """The path of one limb through postures.

    Args:
        body: the body.
        limb: one of its limbs.
        joints: (k, m, 4) local turns of its links in each posture, and of those beyond its
            tip (a hand), which turn along their curves whoever leads.
        end: 0 runs along the joints' curve, 1 along the end's spline.

    Raises:
        SettingError: fewer than two postures, or all the same.
    """

    def __init__(self, body: Body, limb: Limb, joints: np.ndarray, end: float = 0.0) -> None:
        if len(joints) < 2:
            raise SettingError("Postures", len(joints), "two or more: a path leads between them")
        if not 0.0 <= end <= 1.0:
            raise SettingError("End's share of the path", end, "from 0 to 1")
        self.body, self.limb, self.end = body, limb, end
        joints = rotations.continuous(rotations.normalise(joints))
        step = rotations.multiply(rotations.conjugate(joints[:-1]), joints[1:])
        moved = np.linalg.norm(rotations.to_rotation_vector(step), axis=(1, 2)) > SAME
        if not moved.any():
            raise SettingError("Postures", "all the same", "different: a path leads between them")
        self._index = np.concatenate([[0], np.cumsum(moved)])  # equal neighbours are one
        joints = joints[np.concatenate([[True], moved])]
        self._curve = None
        knots = np.arange(float(len(joints)))
        tips = self._points(joints)[:, -1]
        if end > 0.0:
            steps = np.linalg.norm(np.diff(tips, axis=0), axis=1)
            if not (steps > SAME).all():
                still = int(np.argmin(steps))
                raise SettingError(
                    "End of the limb",
                    f"in one place in posture {still + 1} and posture {still + 2}",
                    "moving, or its path by joints",
                )
            self._curve = catmull_rom(tips)
            knots = self._curve.x
        self._turns = TurnCurve(knots, joints, False, np.zeros((len(knots) - 1, 3)))
        self._length = PathLength(self._speed, knots, LENGTH_ERROR)
        self.length = self._length.length
        self.shares = self._length.of(knots)[self._index] / self.length

    def _whole(self, joints: np.ndarray) -> np.ndarray:
        """Joints of all links, of which only the limb's count here."""
        out = np.zeros((len(joints), len(self.body.figure.parents), 4))
        out[..., 0] = 1.0
        out[:, [*self.limb.links, *self.limb.beyond]] = joints
        return out

    def _carried(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        place = self.body.figure.places[self.limb.links[0]]
        return np.broadcast_to(place, (count, 3)), rotations.identity(count)

    def _points(self, joints: np.ndarray) -> np.ndarray:
        carried = self._carried(len(joints))
        return limb_points(self.body, self.limb, *carried, self._whole(joints))[1]

    def _target(self, u: np.ndarray) -> np.ndarray:
        own = self._points(self._turns(u)[0])[:, -1]
        if self._curve is None:
            return own
        return own + self.end * (self._curve(u) - own)

    def _speed(self, u: np.ndarray) -> np.ndarray:
        flat = u.ravel()
        turns, spins = self._turns(flat)
        if self._curve is None:
            return np.sqrt((spins**2).sum(axis=(1, 2))).reshape(u.shape)
        carried = self._carried(len(flat))
        world, points = limb_points(self.body, self.limb, *carried, self._whole(turns))
        own = rotations.rotate(world, spins[:, : len(self.limb.links)])
        moved = rotations.cross(own, points[:, -1:] - points[:, :-1]).sum(axis=1)
        slope = self._curve.derivative()(flat)
        return np.linalg.norm(moved + self.end * (slope - moved), axis=1).reshape(u.shape)

    def at(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The limb at shares of its path's length.

        Args:
            share: (t,) 0 .. 1.

        Returns:
            (t, m, 4) local turns as they were given, (t, 3) the end in the frame of the link that
            carries the limb, m, and (t,) what is missing to where it was wanted, m.
        """
        u = self._length.at(np.asarray(share, float) * self.length)
        joints = self._turns(u)[0]
        missing = np.zeros(len(u))
        if self._curve is not None:
            carried = self._carried(len(u))
            whole = self._whole(joints)
            bent, missing = reach(self.body, self.limb, *carried, whole, self._target(u))
            joints = np.concatenate([bent, joints[:, bent.shape[1] :]], axis=1)
        return joints, self._points(joints)[:, -1], missing

    def move(self, times: np.ndarray, duration: float, pace: Pace | None = None) -> LimbMotion:
        """The limb over time.

        Args:
            times: (t,) s from the start.
            duration: of the whole path, s.
            pace: its distance over time; None is minimum jerk.

        Returns:
            The motion.
        """
        if not duration > 0.0:
            raise SettingError("Duration", duration, "above 0 s")
        times = np.asarray(times, float)
        share = (PRESETS["MINIMUM_JERK"] if pace is None else pace)(times / duration)
        joints, tip, missing = self.at(share)
        problems = unreached(self.limb, times, missing)
        return LimbMotion(times, share, rotations.continuous(joints), tip, missing, problems)
