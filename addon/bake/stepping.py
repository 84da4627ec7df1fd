# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet are between the samples of a motion. Numpy only.

A motion is solved in a few steps a frame. Bones that are keyed one by one have to know more
of a foot that stands: between the samples it rests, too, or turns about what rests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...solvers import rotations
from ...solvers.clock import Clock
from ...solvers.times import covering, gap
from ..mapping.legged import pose_joints
from ..mapping.legs import LegChain, LeggedFigure
from ..mapping.tracks import Contact, RoleTracks
from . import sparse
from .moments import with_moments

SAMPLES = 320.0  # a second at least, of what contacts are followed by
EVALUATED = 160.0  # the same where Blender has to evaluate the controls at each
APART = 1e-4  # frames between two of them at least
REACHED = 1.0 - 1e-6  # of what a leg reaches stretched out
NEAR = 0.25  # samples: nearer to one, the end of a contact tells nothing of the swing beyond
STILL = 1e-3  # metres from sample to sample: what moves by more does not rest
TINY_TURN = 1e-3  # radians: a turn by less tells nothing of the point that it is about


def finer(
    tracks: RoleTracks,
    figure: LeggedFigure,
    steps: Mapping[str, Sequence[Contact]],
    rate: float,
    least: float = SAMPLES,
) -> RoleTracks:
    """Tracks with so many samples per frame that contacts can be followed between frames.

    What a leg's control does is told between samples better than how the bones bend, which
    do not turn evenly where a leg is nearly straight. Nor does how they bend shortly before a
    liftoff tell how they do at it: there are samples at the exact ends of contacts, too.

    Args:
        tracks: where roles are.
        figure: the rest pose, in metres.
        steps: name of a leg -> its contacts, in order of time.
        rate: frames per second.
        least: samples per second, besides those at the ends of contacts.
    """
    if tracks.treadmill is not None:
        found = finer(tracks.treadmill.moved(tracks, back=True), figure, steps, rate, least)
        return tracks.treadmill.moved(found)
    clock, frames = tracks.clock, tracks.clock.count - 1
    if not frames:
        return tracks
    # Where limbs end above the parts that roll, it is not the feet's instants that tell of them.
    told = [replace(c, instants=None) if c.stiff else c for c in tracks.contacts]
    tracks = with_moments(replace(tracks, contacts=tuple(told)), dense=False)
    spans = {
        name: [((s.start - tracks.time[0]) * rate, (s.end - tracks.time[0]) * rate) for s in own]
        for name, own in steps.items()
    }
    ends = [time for own in spans.values() for span in own for time in span]
    for contact in tracks.contacts:
        if contact.instants is not None:
            ends += clock.frame_of(np.array([contact.start, contact.end])).tolist()
    samples = clock.per_frame
    while samples * rate < least:
        samples *= 2
    at, after = moments(frames, ends, samples)
    evenly = sparse.through(clock.frames, at)
    rotation = {
        role: rotations.normalise(evenly.values(values))
        for role, values in tracks.rotation.items()
    }
    position = {role: evenly.values(values) for role, values in tracks.position.items()}
    for leg in figure.legs:
        foot = _Foot(leg, figure, tracks)
        rotation |= foot.turned(at)
        for role, above in ((leg.tip, ()), (leg.control, foot.roles)):
            position[role] = foot.placed(role, above, spans[leg.name], at)
    _reach(replace(tracks, position=position, rotation=rotation), figure, spans, at)
    spins = {role: evenly.values(values[:, None])[:, 0] for role, values in tracks.spins.items()}
    closer = Clock.even(tracks.time[0] + at / rate, after, clock.corners)
    return replace(
        tracks, clock=closer, position=position, rotation=rotation, spins=spins, attributes={}
    )


def _reach(
    tracks: RoleTracks,
    figure: LeggedFigure,
    spans: Mapping[str, Sequence[tuple[float, float]]],
    at: np.ndarray,
) -> None:
    """Roll feet over their tips where legs would be too short for them between samples.

    Legs are taut when their feet leave the ground, and the hips go on evenly.

    Args:
        tracks: the tracks, whose arrays are changed.
        figure: the rest pose.
        spans: name of a leg -> its contacts, frames.
        at: (n,) times of the samples, frames.
    """
    joint, _ = pose_joints(tracks, figure)
    for leg in figure.legs:
        if leg.control == leg.tip:
            continue
        roles = (*leg.segments, leg.tip)
        first, middle, end = (figure.joints[role] for role in roles[leg.bend : leg.bend + 3])
        longest = REACHED * float(np.linalg.norm(middle - first) + np.linalg.norm(end - middle))
        hip, foot = joint[roles[leg.bend]], tracks.position[leg.control]
        begin, end = np.array(spans[leg.name]).reshape(-1, 2).T
        standing = covering(at, begin - 1e-9, end + 1e-9) > 0
        rows = np.flatnonzero(standing & (np.linalg.norm(hip - foot, axis=1) > longest))
        tip = tracks.position[leg.tip][rows]
        arm, line = foot[rows] - tip, hip[rows] - tip
        # Law of cosines in the triangle of hip, control and tip.
        near, far = (np.linalg.norm(v, axis=1) for v in (arm, line))
        wanted = (near**2 + far**2 - longest**2) / np.maximum(2.0 * near * far, 1e-12)
        is_now = np.einsum("ij,ij->i", arm, line) / np.maximum(near * far, 1e-12)
        angle = np.arccos(np.clip(is_now, -1.0, 1.0)) - np.arccos(np.clip(wanted, -1.0, 1.0))
        axis = rotations.normalise(np.cross(arm, line) + 1e-12)
        turn = rotations.from_axis_angle(axis, angle)
        foot[rows] = tip + rotations.rotate(turn, arm)
        for role in roles[leg.bend + 2 :]:
            turned = tracks.rotation[role]
            turned[rows] = rotations.multiply(turn, turned[rows])


def moments(frames: int, ends: Sequence[float], samples: int) -> tuple[np.ndarray, int]:
    """Times at which contacts can be followed: evenly, and where contacts end.

    Every frame has as many, the first of them at the frame itself: where fewer contacts end
    than elsewhere, others stand in between.

    Args:
        frames: length of the motion.
        ends: when contacts begin and end, frames from the start.
        samples: per frame, besides those.

    Returns:
        Times in order, and how many there are per frame.
    """
    wanted = np.unique(np.round(ends, 9))
    wanted = wanted[(wanted > 0.0) & (wanted < frames)]
    wanted = wanted[np.diff(wanted, prepend=-1.0) > APART]
    wanted = wanted[np.abs(samples * wanted - np.round(samples * wanted)) > samples * APART]
    more = min(int(np.bincount(wanted.astype(int)).max(initial=0)), samples)
    whole = np.arange(float(frames))[:, None]
    others = whole + (np.arange(more) * samples // max(more, 1) + 0.5) / samples
    free = np.ones_like(others, dtype=bool)
    for time in wanted:
        row = int(time)
        near = np.where(free[row], np.abs(others[row] - time), np.inf)
        if free[row].any():
            others[row, np.argmin(near)], free[row, np.argmin(near)] = time, False
    at = np.concatenate((whole + np.arange(samples) / samples, others), axis=1)
    return np.append(np.sort(at, axis=1).ravel(), float(frames)), samples + more


class _Foot:
    """What of a leg its control carries, at any times in frames.

    Args:
        leg: the leg.
        figure: the rest pose.
        tracks: the samples, and what is known of feet between them.
    """

    def __init__(self, leg: LegChain, figure: LeggedFigure, tracks: RoleTracks) -> None:
        self.roles = (*leg.segments[leg.bend + 2 :], leg.tip)
        # From the head of each part to that of the next.
        self.arms = np.diff([figure.joints[role] for role in self.roles], axis=0)
        self._tracks = tracks
        clock = tracks.clock
        self.spacing = 1.0 / clock.per_frame
        self.times, self._known, self._rows = clock.frames, np.zeros(0, int), np.zeros(0, int)
        corners = np.zeros(0)
        if tracks.moments is not None:
            told = [
                contact.instants for contact in tracks.contacts
                if contact.role == leg.tip and contact.instants is not None
            ]
            mine = np.concatenate([one.time for one in told] or [corners])
            # A curve through the end of a roll would go on rolling in the flat foot.
            ends = [one.time[one.rank == 0] for one in told]
            corners = clock.frame_of(np.concatenate(ends or [corners]))
            at = clock.frame_of(tracks.moments.time)
            near = gap(at, self.times) < APART
            self._known = np.flatnonzero(np.isin(tracks.moments.time, mine) & ~near)
            self._rows = np.searchsorted(self.times, at[self._known])
            self.times = np.insert(self.times, self._rows, at[self._known])
        self._grid = sparse.key_grid(
            len(self.times), clock.per_frame, corners.tolist(), times=self.times
        )
        self.tip = self._with_known("position", leg.tip)
        self.turns = {role: self._with_known("rotation", role) for role in self.roles}

    def _with_known(self, kind: str, role: str) -> np.ndarray:
        """(n, c) samples of a role and what is known of it between them."""
        samples = getattr(self._tracks, kind)[role]
        if not len(self._known):
            return samples
        known = getattr(self._tracks.moments, kind)[role][self._known]
        return np.insert(samples, self._rows, known, axis=0)

    def turned(self, at: np.ndarray) -> dict[str, np.ndarray]:
        """Role -> (q, 4) how the parts of the foot are turned.

        Args:
            at: (q,) times.
        """
        read = self._grid.at(at)
        return {
            role: rotations.normalise(read.values(turns)) for role, turns in self.turns.items()
        }

    def placed(
        self,
        role: str,
        above: Sequence[str],
        spans: Sequence[tuple[float, float]],
        at: np.ndarray,
    ) -> np.ndarray:
        """(q, 3) where the control is, or the tip.

        Args:
            role: the one of them.
            above: roles of the parts from it to the tip.
            spans: contacts, begin and end.
            at: (q,) times.
        """
        times, place = self.times, self._with_known("position", role)
        found = np.full((len(at), 3), np.nan)
        nodes: list[tuple[float, np.ndarray]] = []
        for begin, end in spans:
            first = int(np.searchsorted(times, begin - sparse.AT_SAMPLE))
            last = int(np.searchsorted(times, end + sparse.AT_SAMPLE)) - 1
            if last < first:
                continue
            ends = np.clip([begin, end], times[0], times[-1])
            rows = slice(*np.searchsorted(at, ends + (-1e-9, 1e-9)))
            there = self._standing(above, first, last, np.concatenate((ends, at[rows])))
            found[rows] = there[2:]
            nodes += zip(ends.tolist(), there[:2], strict=True)
        for before, after in zip([None, *nodes[1::2]], [*nodes[0::2], None], strict=True):
            low = int(np.searchsorted(times, before[0] + sparse.AT_SAMPLE)) if before else 0
            high = int(np.searchsorted(times, after[0] - sparse.AT_SAMPLE)) if after else len(times)
            begin, end = before[0] if before else times[0], after[0] if after else times[-1]
            free = np.arange(*np.searchsorted(at, (begin, end + 1e-9)))
            free = free[np.isnan(found[free, 0])]
            if len(free):
                known = [node for node in (before, after) if node is not None]
                found[free] = _swinging(
                    times[low:high], place[low:high], known, at[free], self.spacing
                )
        return found

    def _standing(
        self, above: Sequence[str], first: int, last: int, moments: np.ndarray
    ) -> np.ndarray:
        """(q, 3) where the control is, or the tip, at times (q,) in a contact.

        The foot turns about a point that rests. With the turns R of the tip in two samples, and
        its places x, that point is at a in its axes, where (R_1 - R_0) a = x_0 - x_1: the tip
        itself, or the heel as long as that alone is down. A foot that its leg is too short for is
        nowhere at rest, and goes on evenly.

        Args:
            above: roles of the parts to the tip.
            first: first sample in the contact.
            last: last sample in it.
            moments: the times.
        """
        times, tip = self.times[first : last + 1], self.tip[first : last + 1]
        turned, there = self.turned(moments), self._grid.at(moments).values(self.tip)
        if last == first:
            there[:] = tip
        else:
            role = self.roles[-1]
            axes = rotations.to_matrix(self.turns[role][first : last + 1])
            moved, spun = np.diff(tip, axis=0), np.diff(axes, axis=0)
            across = spun.transpose(0, 2, 1)
            arm = -np.linalg.solve(
                across @ spun + TINY_TURN**2 * np.eye(3), across @ moved[..., None]
            )[..., 0]
            rest = moved + np.einsum("mij,mj->mi", spun, arm)
            i = np.clip(np.searchsorted(times, moments, side="right") - 1, 0, len(times) - 2)
            share = np.clip((moments - times[i]) / (times[i + 1] - times[i]), 0.0, 1.0)[:, None]
            back = axes[i] - rotations.to_matrix(turned[role])
            resting = np.linalg.norm(rest, axis=1) < STILL
            resting &= np.linalg.norm(arm, axis=1) <= 2.0 * np.linalg.norm(self.arms, axis=1).sum()
            rolled = tip[i] + share * rest[i] + np.einsum("mij,mj->mi", back, arm[i])
            there = np.where(resting[i][:, None], rolled, there)
        for role, arm in zip(above, self.arms, strict=False):
            there -= rotations.rotate(turned[role], arm)
        return there


def _swinging(
    times: np.ndarray,
    place: np.ndarray,
    known: Sequence[tuple[float, np.ndarray]],
    at: np.ndarray,
    spacing: float,
) -> np.ndarray:
    """(q, 3) where something is between two contacts.

    Args:
        times: (n,) of the samples between them.
        place: (n, 3) samples.
        known: time and place of their ends.
        at: (q,) times.
        spacing: of the samples.
    """
    apart = [float(np.abs(times - time).min(initial=np.inf)) for time, _ in known]
    # So near to a sample, what the end of a contact is off by would be taken for speed.
    far = [node for node, gap in zip(known, apart, strict=True) if gap >= NEAR * spacing]
    nodes = np.concatenate((times, [time for time, _ in far]))
    order = np.argsort(nodes)
    values = np.concatenate((place, *[value[None] for _, value in far]))[order]
    found = sparse.through(nodes[order], at).values(values)
    for (time, value), away in zip(known, apart, strict=True):
        if away < NEAR * spacing:
            beside = int(np.argmin(np.abs(times - time)))
            rows = (at - time) * (at - times[beside]) < 0.0
            share = (at[rows] - time) / (times[beside] - time)
            found[rows] = value + share[:, None] * (place[beside] - value)
    return found
