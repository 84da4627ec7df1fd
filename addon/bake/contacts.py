# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bone is when a contact begins or ends, between two samples. Numpy only.

What has been set down, and what is lifted, moves quickly on the other side of such a
moment. Which values hold there is told from inside: the point that is held fixed in the
world is seen from the bone's parent, which moves evenly, while the bone may turn about it,
as a paw does that rolls over its toes. With the channels location x and rotation q, and the
point at a in the bone's axes, the parent sees it at

    p(t) = x(t) + q(t) a q(t)*

p goes on from the samples inside, q is smooth throughout, and x = p - q a q*.

The other bones of the limb turn quickly then, too: were they to go straight from frame to
frame, what is held could be out of the limb's reach. But they do so smoothly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...solvers import rotations
from ...solvers.clock import Clock
from ..rigs.pose import rotation_modes
from . import sparse

DELTA = 1e-3  # frames; over so short a time a slope is read


# Time -> "location" and "rotation" of a bone, as far as they are known there.
Known = Mapping[float, Mapping[str, np.ndarray]]


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
        first: first sample in the contact.
        last: last sample in it.
        at: (m,) times of all samples, frames.
        location: (m, 3) channels.
        rotation: (m, k) channels, or None.
        mode: rotation mode of the bone.
    """

    span: Span
    still: np.ndarray | None
    first: int
    last: int
    at: np.ndarray
    location: np.ndarray
    rotation: np.ndarray | None
    mode: str

    def tells(self, name: str) -> bool:
        """Whether it knows more of a channel than its samples do.

        Args:
            name: "location" or "rotation".
        """
        return name == "location" or (self.still is None and self.rotation is not None)


@dataclass(frozen=True)
class Along:
    """A contact that a bone of the limb goes along with.

    Attributes:
        span: the contact.
        names: "location" and "rotation", or the one of them that the bone has.
    """

    span: Span
    names: Collection[str]

    def tells(self, name: str) -> bool:
        """Whether the bone has a channel.

        Args:
            name: "location" or "rotation".
        """
        return name in self.names


def smoothly(times: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(p, c) values between samples, by polynomials through the nearest of them.

    Args:
        times: (m,) of the samples.
        values: (m, c).
        at: (p,) times.
    """
    return sparse.through(times, at).values(values)


def _values(
    contacts: Sequence[Held], times: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """(p, 3) locations, and (p, k) rotations or None, at times (p,) in contacts (p of them)
    of one bone. All at once: a long motion has hundreds."""
    one = contacts[0]
    location = np.zeros((len(times), 3))
    turned = None
    moving = np.flatnonzero([contact.still is None for contact in contacts])
    for k, contact in enumerate(contacts):
        if contact.still is not None:
            location[k] = contact.still
    if one.rotation is not None:
        turned = sparse.through(one.at, times).values(one.rotation)
    if len(moving):
        near = sparse.stencil(
            one.at, times[moving], np.array([contacts[k].first for k in moving]),
            np.array([contacts[k].last for k in moving]), sparse.EXTRAPOLATION,
        )
        # The fixed point, seen from the parent.
        points = one.location[near.index]
        if turned is not None:
            assert one.rotation is not None
            arm = np.array([contacts[k].span.arm for k in moving])
            shape = near.index.shape
            each = one.rotation[near.index].reshape(-1, one.rotation.shape[1])
            arms = np.repeat(arm, shape[1], axis=0)
            points = points + _arm(each, one.mode, arms).reshape(*shape, 3)
        place = np.einsum("pn,pnc->pc", near.value, points)
        if turned is not None:
            place -= _arm(turned[moving], one.mode, arm)
        location[moving] = place
    return location, turned


def pinned(contacts: Sequence[Held]) -> list[sparse.Pinned]:
    """What a sparse key of one bone has at the beginning and the end of each contact.

    A rotation goes on as it is, on both sides; a location as it is inside.

    Args:
        contacts: those in which the bone moves, or turns.
    """
    theirs = [one for one in contacts for _ in range(2)]
    time = np.array([t for one in contacts for t in (one.span.begin, one.span.end)])
    back = np.tile((-DELTA, DELTA), len(contacts))
    now, near = _values(theirs, time), _values(theirs, time - back)
    unknown, ends = np.full(3, np.nan), back > 0.0
    found = []
    for k in range(len(time)):
        values, left, right = [], [], []
        for i, (value, other) in enumerate(zip(now, near, strict=True)):
            if value is None or other is None:
                continue
            slope = (value[k] - other[k]) / back[k]
            values.append(value[k])
            left.append(slope if ends[k] or i == 1 else unknown)
            right.append(slope if not ends[k] or i == 1 else unknown)
        found.append(
            sparse.Pinned(float(time[k]), *map(np.concatenate, (values, left, right)))
        )
    return found


def _arm(rotation: np.ndarray, mode: str, arm: np.ndarray) -> np.ndarray:
    """(m, 3) from the head to the fixed point, seen from the parent; arm is (3,) or (m, 3)."""
    return rotations.rotate(rotation_modes.from_mode(rotation, mode), arm)


def held(
    location: np.ndarray,
    rotation: np.ndarray | None,
    mode: str,
    at: np.ndarray,
    spans: Sequence[Span],
    still: float,
) -> Iterator[Held]:
    """A bone's contacts, in order of time.

    Args:
        location: (m, 3) channels.
        rotation: (m, k) channels, or None.
        mode: rotation mode of the bone.
        at: (m,) when the samples are, frames.
        spans: its contacts.
        still: a location that changes by no more than that is one.
    """
    for span in sorted(spans, key=lambda span: (span.begin, span.end)):
        first = int(np.searchsorted(at, span.begin - 1e-9))
        last = int(np.searchsorted(at, span.end + 1e-9, side="right")) - 1
        if last < first:
            continue
        rest = None
        inside = location[first : last + 1]
        if (inside.max(axis=0) - inside.min(axis=0)).max() <= still:
            rest = inside[0]
        elif last == first:
            continue  # nothing tells how it goes on
        yield Held(span, rest, first, last, at, location, rotation, mode)


def moments(spans: Iterable[Span], last: float, spacing: float) -> list[tuple[float, float, int]]:
    """When contacts get keys between frames.

    Of what lies closer together than keys can, the first gets the key; so close to a frame, it
    gets it a little later, or sooner.

    Args:
        spans: the contacts of a bone and its limb; of the same moment the first counts.
        last: frame of the last sample.
        spacing: least time between two keys in frames.

    Returns:
        Frames from the start in order of time, when what they are for is, and numbers of the
        contacts.
    """
    found = []
    for number, span in enumerate(spans):
        for time in (span.begin, span.end):
            whole = float(round(time))
            if span.begin <= whole <= span.end and abs(time - whole) < spacing:
                continue  # the key on that frame does it
            at = time
            if abs(time - whole) < spacing:
                at = whole + math.copysign(spacing, time - whole)
            if 0.0 < at < last:
                found.append((at, number, time))
    kept: list[tuple[float, float, int]] = []
    for at, number, time in sorted(found):
        if not kept or at >= kept[-1][0] + spacing:
            kept.append((at, time, number))
    return kept


def dense_keys(
    values: np.ndarray,
    name: str,
    clock: Clock,
    contacts: Sequence[Held | Along],
    spacing: float,
    known: Known | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Keys on every frame, and where a contact begins and ends between frames.

    A straight line into the next frame would drag what is set down in
    between, and what is lifted.

    Args:
        values: (m, c) channels of the bone.
        name: "location" or "rotation".
        clock: when the samples are.
        contacts: what `held` gave, and then those that the bone goes along with.
        spacing: least time between two keys in frames.
        known: what is better known of the bone than by its samples.

    Returns:
        (k,) frames from the start, and (k, c) values.
    """
    times, known = clock.frames[: len(values)], known or {}
    telling = [one for one in contacts if one.tells(name)]
    found = [
        moment for moment in moments([one.span for one in telling], times[-1], spacing)
        # What is known exactly, and moves no quicker there than elsewhere, has the frame's key.
        if moment[0] == moment[1] or name not in known.get(moment[1], ())
    ]
    whole = times[clock.whole]
    if not found:
        return whole, values[clock.whole]
    at = np.array([key for key, _, _ in found])
    # All at once: a long motion has hundreds.
    keyed = smoothly(times, values, at)
    holding = []
    for k, (_, time, number) in enumerate(found):
        one = telling[number]
        if name in known.get(time, ()):
            keyed[k] = known[time][name]
        elif isinstance(one, Held):
            holding.append((k, one))
    if holding:
        rows = [k for k, _ in holding]
        location, turned = _values([one for _, one in holding], at[rows])
        keyed[rows] = location if name == "location" else turned
    joined = np.concatenate((whole, at))
    keyed = np.concatenate((values[clock.whole], keyed))
    order = np.argsort(joined, kind="stable")
    return joined[order], keyed[order]
