# SPDX-License-Identifier: GPL-3.0-or-later
"""Where limbs are at the instants that samples and frames miss. Numpy only.

A motion has a few samples a frame, and feet touch down, roll and leave the ground anywhere
between. What is known exactly of them there (`Instant`) is put beside the samples, with the
rest of the body as it goes on evenly.

Keys on every frame miss something else: what stands, and hangs on a root that goes round a
bend, would have to go round the root on an arc. With straight lines between keys it goes
along the chord, and is off by r'' dt^2 / 4 in the middle of a frame, where r'' is the root's
centripetal acceleration: 1.3 mm at 5.5 m/s in a bend of 10 m, at 24 frames a second.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...solvers import rotations
from ..mapping.tracks import ROOT, Contact, Instant, Moments, RoleTracks
from . import sparse

ROUND = 2.5e-4  # metres off in the middle of a frame from which there are keys within it


def with_moments(tracks: RoleTracks, dense: bool, feet: bool = False) -> RoleTracks:
    """Tracks that know where everything is at the instants of their contacts.

    Args:
        tracks: the tracks.
        dense: whether they are to be keyed on every frame, with straight lines between.
        feet: whether the parts of feet have controls of their own, whatever a limb ends at.

    Returns:
        The same, with `moments`; where straight lines would not do, contacts have more instants.
    """
    contacts = list(tracks.contacts)
    if dense:
        contacts = _round_bends(tracks, [_for_lines(contact, feet) for contact in contacts])
    first, last = tracks.time[0], tracks.time[-1]
    found = [
        (contact, one)
        for contact in contacts for one in contact.instants if first < one.time < last
    ]  # fmt: skip
    if not found:
        return tracks
    time = np.unique([one.time for _, one in found])
    every = np.zeros(len(time), int), np.full(len(time), len(tracks.time) - 1)
    read = sparse.stencil(tracks.frames, tracks.frame_of(time), *every, sparse.EXTRAPOLATION)
    position = {role: read.values(values) for role, values in tracks.position.items()}
    rotation = {
        role: rotations.normalise(read.values(values)) for role, values in tracks.rotation.items()
    }
    rows = np.searchsorted(time, [one.time for _, one in found])
    for row, (contact, one) in zip(rows, found, strict=True):
        for role in position.keys() & one.offset.keys():
            position[role][row] = contact.position + one.offset[role]
        for role in rotation.keys() & one.turn.keys():
            turn = one.turn[role]
            rotation[role][row] = np.copysign(1.0, rotation[role][row] @ turn) * turn
    spins = {role: np.interp(time, tracks.time, own) for role, own in tracks.spins.items()}
    moments = Moments(time, position, rotation, spins)
    return replace(tracks, contacts=tuple(contacts), moments=moments)


def _for_lines(contact: Contact, feet: bool) -> Contact:
    """A contact with those instants alone that straight lines need keys at."""
    most = 0 if contact.stiff and not feet else 1
    return replace(contact, instants=tuple(one for one in contact.instants if one.rank <= most))


def _round_bends(tracks: RoleTracks, contacts: list[Contact]) -> list[Contact]:
    """Contacts with instants at the samples of frames in which straight lines would be off."""
    step = tracks.steps_per_frame
    frames = (len(tracks.time) - 1) // step
    known = ROOT in tracks.position and ROOT in tracks.rotation
    if not contacts or not known or not frames or step < 2:
        return contacts
    place, turn = tracks.position[ROOT][::step], tracks.rotation[ROOT][::step]
    spans = []
    for contact in contacts:
        times = [one.time for one in contact.instants] or [np.inf]
        spans.append((min(contact.start, *times), max(contact.end, times[-1])))
    bounds = np.clip(tracks.frame_of(np.array(spans).reshape(-1, 2)), 0.0, frames)
    low, high = np.floor(bounds[:, 0]).astype(int), np.ceil(bounds[:, 1]).astype(int)
    many = np.maximum(high - low, 0) * [bool(contact.instants) for contact in contacts]
    number = np.repeat(np.arange(len(contacts)), many)
    if not len(number):
        return contacts
    frame = np.arange(len(number)) - np.repeat(np.cumsum(many) - many, many) + low[number]
    rests = np.array([contact.position for contact in contacts])[number]
    # What rests, as the root sees it on either frame.
    seen = [
        rotations.rotate(rotations.conjugate(turn[rows]), rests - place[rows])
        for rows in (frame, frame + 1)
    ]
    middle = rotations.normalise(turn[frame] + turn[frame + 1])
    off = 0.5 * rotations.rotate(middle, seen[0] + seen[1]) - rests
    off += 0.5 * (place[frame] + place[frame + 1])
    for k in np.flatnonzero(np.linalg.norm(off, axis=1) > ROUND):
        contact = contacts[number[k]]
        more = tracks.time[frame[k] * step + 1 : (frame[k] + 1) * step]
        instants = [*contact.instants, *(
            Instant(float(time), {}, {})
            for time in more if spans[number[k]][0] < time < spans[number[k]][1]
        )]  # fmt: skip
        instants.sort(key=lambda one: one.time)
        contacts[number[k]] = replace(contact, instants=tuple(instants))
    return contacts


def woven(tracks: RoleTracks) -> RoleTracks:
    """Tracks with a sample at each of their moments, too: no more as many to each frame.

    Args:
        tracks: the tracks; without moments they stay as they are.
    """
    moments = tracks.moments
    if moments is None:
        return tracks
    time, rows = np.unique(np.concatenate((tracks.time, moments.time)), return_index=True)
    position, rotation, spins = (
        {
            role: np.concatenate((values, getattr(moments, name)[role]))[rows]
            for role, values in getattr(tracks, name).items()
        }
        for name in ("position", "rotation", "spins")
    )
    return replace(
        tracks, time=time, position=position, spins=spins, moments=None, attributes={},
        rotation={role: rotations.continuous(turn) for role, turn in rotation.items()},
    )  # fmt: skip


def unwoven(tracks: RoleTracks, like: RoleTracks) -> RoleTracks:
    """Undo `woven`.

    Args:
        tracks: what was made of woven tracks.
        like: the tracks that were woven.
    """
    if like.moments is None:
        return tracks
    even, between = (np.searchsorted(tracks.time, time) for time in (like.time, like.moments.time))

    def some(rows: np.ndarray) -> list[dict[str, np.ndarray]]:
        return [
            {role: values[rows] for role, values in every.items()}
            for every in (tracks.position, tracks.rotation, tracks.spins)
        ]

    position, rotation, spins = some(even)
    moments = Moments(like.moments.time, *some(between))
    return replace(
        tracks, time=like.time, position=position, rotation=rotation, spins=spins, moments=moments
    )
