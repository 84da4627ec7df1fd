# SPDX-License-Identifier: GPL-3.0-or-later
"""Where limbs are at the instants that samples and frames miss. Numpy only.

A motion has a few samples a frame, and feet touch down, roll and leave the ground anywhere
between. What is known exactly of them there (`Instants`) is put beside the samples, with the
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
from ...solvers.times import gap
from ..mapping.tracks import ROOT, Contact, Instants, Moments, RoleTracks
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
    if tracks.treadmill is not None:
        found = with_moments(tracks.treadmill.moved(tracks, back=True), dense, feet)
        return tracks.treadmill.moved(found)
    contacts = list(tracks.contacts)
    if dense:
        contacts = _round_bends(tracks, [_for_lines(tracks, c, feet) for c in contacts])
    told = [(c, c.instants) for c in contacts if c.instants is not None]
    time = np.unique(np.concatenate([known.time for _, known in told] or [np.zeros(0)]))
    time = time[(time > tracks.time[0]) & (time < tracks.time[-1])]
    if not len(time):
        return tracks
    read = sparse.through(tracks.clock.frames, tracks.clock.frame_of(time))
    wanted = tracks.position.keys() | tracks.rotation.keys()
    if dense and not feet:  # nothing else has keys there
        wanted = {role for contact, _ in told for role in contact.limb}
    position, rotation = (
        {role: read.values(values) for role, values in samples.items() if role in wanted}
        for samples in (tracks.position, tracks.rotation)
    )
    for role, values in rotation.items():
        rotation[role] = rotations.normalise(values)
    for role in wanted:
        own = [instants for contact, instants in told if role in contact.limb]
        if role in position:
            at = [contact.position for contact, _ in told if role in contact.limb]
            known = [
                one.offset[role] + place
                for one, place in zip(own, at, strict=True) if role in one.offset
            ]
            _put(position[role], known, own, time)
        if role in rotation:
            known = [one.turn[role] for one in own if role in one.turn]
            _put(rotation[role], known, own, time, signs=True)
    spins = {role: np.interp(time, tracks.time, own) for role, own in tracks.spins.items()}
    moments = Moments(time, position, rotation, spins)
    return replace(tracks, contacts=tuple(contacts), moments=moments)


def _put(
    values: np.ndarray,
    known: list[np.ndarray],
    own: list[Instants],
    time: np.ndarray,
    signs: bool = False,
) -> None:
    """Put what is known of a role in the place of how it goes on evenly.

    Args:
        values: (k, c) at times (k,), which are changed.
        known: (m, c) at those of each contact, or none; not a number where it is not.
        own: the instants of these contacts.
        time: (k,) the times.
        signs: whether they are quaternions, which keep to the side that they are on.
    """
    if not known:
        return
    better, when = np.concatenate(known), np.concatenate([one.time for one in own])
    told = (when >= time[0]) & (when <= time[-1]) & ~np.isnan(better[:, 0])
    rows, better = np.searchsorted(time, when[told]), better[told]
    if signs:
        same = np.einsum("ij,ij->i", better, values[rows])
        better = better * np.copysign(1.0, same)[:, None]
    values[rows] = better


def _for_lines(tracks: RoleTracks, contact: Contact, feet: bool) -> Contact:
    """A contact with those instants alone that straight lines need keys at.

    Just before a touchdown, and just after a liftoff, a foot hardly moves yet: where that is too
    near to a frame for a key of its own, the key stands as near as it can, on the side of the
    swing.
    """
    told = contact.instants
    if told is None:
        return contact
    most = 0 if contact.stiff and not feet else 1
    told = told.some(told.rank <= most)
    time, start, end = told.time.copy(), contact.start, contact.end
    beside = sparse.SPACING * (1.0 + 1e-6)
    for row, side in ((0, -1.0), (-1, 1.0)):
        at = float(tracks.clock.frame_of(time[row]))
        if 0.0 < side * (at - round(at)) < beside:
            before = time[row]
            time[row] = tracks.time[0] + (round(at) + side * beside) / tracks.clock.rate
            start = time[row] if start == before else start
            end = time[row] if end == before else end
    return replace(contact, start=start, end=end, instants=replace(told, time=time))


def _round_bends(tracks: RoleTracks, contacts: list[Contact]) -> list[Contact]:
    """Contacts with instants at the samples of frames in which straight lines would be off."""
    clock = tracks.clock
    frames = clock.count - 1
    known = ROOT in tracks.position and ROOT in tracks.rotation
    if not contacts or not known or not frames or len(clock.time) == clock.count:
        return contacts
    place, turn = tracks.position[ROOT][clock.every], tracks.rotation[ROOT][clock.every]
    spans = []
    for contact in contacts:
        times = [contact.start, contact.end]
        if contact.instants is not None:
            times += contact.instants.time[[0, -1]].tolist()
        spans.append((min(times), max(times)))
    bounds = np.clip(clock.frame_of(np.array(spans).reshape(-1, 2)), 0.0, frames)
    low, high = np.floor(bounds[:, 0]).astype(int), np.ceil(bounds[:, 1]).astype(int)
    many = np.maximum(high - low, 0) * [contact.instants is not None for contact in contacts]
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
    far = np.linalg.norm(off, axis=1) > ROUND
    inside = np.setdiff1d(np.arange(len(clock.time)), clock.whole)
    bends = np.searchsorted(clock.whole, inside) - 1  # the frames that they are in
    which, first = np.unique(number[far], return_index=True)  # in order
    for k, own in zip(which, np.split(frame[far], first[1:]), strict=False):
        told = contacts[k].instants
        assert told is not None
        more = clock.time[inside[np.isin(bends, own)]]
        more = more[(more > spans[k][0]) & (more < spans[k][1])]
        near = gap(more, told.time) * clock.rate < 2.0 * sparse.SPACING
        more = more[~near]  # keys can stand no closer
        contacts[k] = replace(contacts[k], instants=told.and_at(more))
    return contacts


def woven(tracks: RoleTracks) -> RoleTracks:
    """Tracks with a sample at each of their moments, too.

    Args:
        tracks: the tracks; without moments they stay as they are.
    """
    moments = tracks.moments
    if moments is None:
        return tracks
    _, rows = np.unique(np.concatenate((tracks.time, moments.time)), return_index=True)
    position, rotation, spins = (
        {
            role: np.concatenate((values, getattr(moments, name)[role]))[rows]
            for role, values in getattr(tracks, name).items()
        }
        for name in ("position", "rotation", "spins")
    )
    return replace(
        tracks, clock=tracks.clock.with_rows(moments.time), position=position, spins=spins,
        moments=None, attributes={},
        rotation={role: rotations.continuous(turn) for role, turn in rotation.items()},
    )


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
        tracks, clock=like.clock, position=position, rotation=rotation, spins=spins,
        moments=moments,
    )
