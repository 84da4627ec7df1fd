# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bone is when a contact begins or ends, between two samples. Numpy only.

What has been set down, and what is lifted, moves quickly on the other side of such a
moment. Which values hold there is told from inside: the point that is held fixed in the
world is seen from the bone's parent, which moves evenly, while the bone may turn about it,
as a paw does that rolls over its toes. With the channels location x and rotation q, and the
point at a in the bone's axes, the parent sees it at

    p(t) = x(t) + q(t) a q(t)*

p goes on from the samples inside, q is smooth throughout, and x = p - q a q*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...solvers import rotations
from ..rigs import rotation_modes
from . import sparse

DELTA = 1e-3  # frames; over so short a time a slope is read


@dataclass(frozen=True)
class Span:
    """A contact of a bone.

    Attributes:
        begin: frames from the start of the motion.
        end: frames.
        arm: (3,) from the bone's head to the fixed point, in the bone's axes and in units of
            its location.
    """

    begin: float
    end: float
    arm: np.ndarray


@dataclass(frozen=True)
class Held:
    """A bone in one of its contacts.

    Attributes:
        span: the contact.
        still: (3,) location that holds throughout, or None where the bone's parent
            moves or the bone turns about the fixed point.
        at: (m,) times of all samples, frames.
        inside: (m,) bool: samples in the contact.
        point: (m, 3) the fixed point, seen from the parent.
        rotation: (m, k) channels, or None.
        mode: rotation mode of the bone.
        known: values that were asked for before, by time.
    """

    span: Span
    still: np.ndarray | None
    at: np.ndarray
    inside: np.ndarray
    point: np.ndarray
    rotation: np.ndarray | None
    mode: str
    known: dict[float, dict[str, np.ndarray]] = field(default_factory=dict, compare=False)

    def values(self, time: float) -> dict[str, np.ndarray]:
        """Location, and rotation where it moves on, at a time in the contact.

        Args:
            time: frames from the start of the motion.

        Returns:
            "location" -> (3,), "rotation" -> (k,).
        """
        if time not in self.known:
            self.known[time] = self._values(time)
        return self.known[time]

    def _values(self, time: float) -> dict[str, np.ndarray]:
        if self.still is not None:
            return {"location": self.still}
        point = sparse.value_at(self.at[self.inside], self.point[self.inside], time)
        if self.rotation is None:
            return {"location": point}
        turned = sparse.value_at(self.at, self.rotation, time)
        return {"location": point - _arm(turned[None], self.mode, self.span.arm)[0],
                "rotation": turned}  # fmt: skip

    def pinned(self, end: bool) -> sparse.Pinned:
        """What a sparse key has at the beginning or the end of the contact.

        A rotation goes on as it is, on both sides; a location as it is inside.

        Args:
            end: the end is meant.
        """
        time, back = (self.span.end, DELTA) if end else (self.span.begin, -DELTA)
        now, near = self.values(time), self.values(time - back)
        values, left, right = [], [], []
        for name, value in now.items():
            slope = (value - near[name]) / back
            unknown = np.full_like(slope, np.nan)
            values.append(value)
            left.append(slope if end or name == "rotation" else unknown)
            right.append(slope if not end or name == "rotation" else unknown)
        return sparse.Pinned(time, *map(np.concatenate, (values, left, right)))


def _arm(rotation: np.ndarray, mode: str, arm: np.ndarray) -> np.ndarray:
    """(m, 3) from the head to the fixed point, seen from the parent."""
    return rotations.rotate(rotation_modes.from_mode(rotation, mode), arm)


def held(
    location: np.ndarray,
    rotation: np.ndarray | None,
    mode: str,
    per_frame: int,
    spans: Sequence[Span],
    still: float,
) -> Iterator[Held]:
    """A bone's contacts, in order of time.

    Args:
        location: (m, 3) channels.
        rotation: (m, k) channels, or None.
        mode: rotation mode of the bone.
        per_frame: samples per frame.
        spans: its contacts.
        still: a location that changes by no more than that is one.
    """
    at = np.arange(len(location)) / per_frame
    for span in sorted(spans, key=lambda span: (span.begin, span.end)):
        inside = (at >= span.begin - 1e-9) & (at <= span.end + 1e-9)
        if not inside.any():
            continue
        point, rest = location, None
        if np.ptp(location[inside], axis=0).max() <= still:
            rest = location[inside][0]
        elif np.count_nonzero(inside) < 2:
            continue  # nothing tells how it goes on
        elif rotation is not None and span.arm.any():
            point = location + _arm(rotation, mode, span.arm)
        yield Held(span, rest, at, inside, point, rotation, mode)


def dense_keys(
    values: np.ndarray,
    name: str,
    per_frame: int,
    contacts: Sequence[Held],
    spacing: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Keys on every frame, and where a contact begins and ends between frames.

    A straight line into the next frame would drag what is set down in
    between, and what is lifted. Of what lies closer together than keys can,
    the first gets the key.

    Args:
        values: (m, c) channels of the bone.
        name: "location" or "rotation".
        per_frame: samples per frame.
        contacts: what `held` gave.
        spacing: least time between two keys in frames.

    Returns:
        (k,) frames from the start, and (k, c) values.
    """
    last = (len(values) - 1) / per_frame
    frames, keyed = [np.arange(float((len(values) - 1) // per_frame + 1))], [values[::per_frame]]
    latest = -np.inf
    for one in contacts:
        begin, end = one.span.begin, one.span.end
        for time in (begin, end):
            whole = np.round(time)
            if begin <= whole <= end and abs(time - whole) < spacing:
                continue  # the key on that frame does it
            if abs(time - whole) < spacing:
                time = whole + np.copysign(spacing, time - whole)
            if 0.0 < time < last and time >= latest + spacing:
                known = one.values(time).get(name)
                if known is not None:
                    frames.append(np.array([time]))
                    keyed.append(known[None])
                    latest = time
    joined = np.concatenate(frames)
    order = np.argsort(joined, kind="stable")
    return joined[order], np.concatenate(keyed)[order]
