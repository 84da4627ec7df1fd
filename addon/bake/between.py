# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones do between their keys, and where they need more of them.

Plain keys of a skeleton are exact at their own times. Between these every channel goes its
own way, and what hangs at the end of a chain of bones is off by the sum: a foot that stands
slides back and forth within each frame. How far is computed for all times at once, from the
keys and from the motion's samples, whose channels are read between them by polynomials that
never cross a kink.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...solvers.motion import Problem
from ...solvers.times import covering, gap
from .. import keyframes
from ..rigs.pose import reader
from ..rigs.pose.algebra import Basis
from ..rigs.pose.channels import BoneTrack
from ..rigs.pose.constraints import Constraints
from ..rigs.pose.frames import object_matrices
from . import sparse, verify
from .contacts import Span

PARTS = 4  # looks per frame, besides those at samples
FINEST = 5  # how often a frame is halved, or the error allowed cut
CUT = 0.3  # to that share
HALVED = 2  # from which level on a sparse key may stand between frames wherever there is a sample
SAFE = 0.8  # share of what is allowed that is aimed at: not every time is looked at
MATTERS = 0.05  # share of what is allowed that a bone must add for it to get a key
SHARE = 0.15  # of the length of all bones together: about that of a person's leg
STANDS = 1e-3  # metres: farther than that, and what is in contact slides

# Which bones get keys between frames.
NOWHERE, CONTACTS, ANYWHERE = "NONE", "CONTACTS", "ANYWHERE"


@dataclass(frozen=True)
class Contact:
    """A bone at the end of a limb, and when the limb is in contact.

    Attributes:
        bone: name of the bone.
        limb: names of the keyed bones that are the limb's own, itself among them.
        spans: the contacts; the arm of each leads from the bone's head to what is held.
    """

    bone: str
    limb: frozenset[str]
    spans: tuple[Span, ...]

    def ends(self) -> list[float]:
        """When contacts begin and end, frames from the start of the motion."""
        return [time for span in self.spans for time in (span.begin, span.end)]


def contacts_of(
    armature: bpy.types.Object, keyed: Collection[str], spans: Mapping[str, Sequence[Span]]
) -> list[Contact]:
    """Limbs in contact, with the bones that are theirs alone.

    Args:
        armature: the rig.
        keyed: names of the keyed bones.
        spans: bone at the end of a limb -> its contacts.
    """
    above = {
        bone: [bone, *(b.name for b in armature.pose.bones[bone].parent_recursive)]
        for bone in spans
    }
    found = []
    for bone, theirs in spans.items():
        # A heel and the toes of one foot are of the same limb.
        others = (o for o in above if o not in above[bone] and bone not in above[o])
        shared = {name for other in others for name in above[other]}
        limb = frozenset(name for name in above[bone] if name in keyed and name not in shared)
        found.append(Contact(bone, limb, tuple(theirs)))
    return found


@dataclass(frozen=True)
class Rig:
    """What turns channels into places.

    Attributes:
        armature: the rig.
        constraints: those between its bones.
        metres_per_unit: size of the armature's unit.
        unit_scale: metres per Blender unit.
        over: (1 or q, 4, 4) what the object's own channels are relative to at the times that
            are looked at; None where the object is not keyed.
        contacts: limbs in contact.
        moved: channels of bones that something else moves, at the times that are looked at.
    """

    armature: bpy.types.Object
    constraints: Constraints
    metres_per_unit: float
    unit_scale: float
    over: np.ndarray | None
    contacts: tuple[Contact, ...]
    moved: Mapping[str, Basis] = field(default_factory=dict)

    def places(self, tracks: Sequence[BoneTrack]) -> dict[tuple[str, str], np.ndarray]:
        """Where bones are that have given channels.

        Args:
            tracks: channels of all keyed bones at some times, parents before children.

        Returns:
            (bone, "head") -> (q, 3) metres; of bones on which no other keyed one hangs
            (bone, "tail"), too, and (bone, "contact") of those in contact.
        """
        solver = reader.solver_of(self.armature, self.moved, self.constraints)
        bones = [track for track in tracks if track.bone]
        for track in bones:
            solver.hold(track)
        hung = {
            b.name for track in bones for b in self.armature.pose.bones[track.bone].parent_recursive
        }
        arms = {c.bone: c.spans[0].arm for c in self.contacts if c.spans}
        found = {}
        for track in bones:
            pose = solver.pose(track.bone)
            found[track.bone, "head"] = pose.head
            if track.bone not in hung:
                along = np.array([0.0, solver.bone(track.bone).length, 0.0])
                found[track.bone, "tail"] = pose.apply(along)
            if track.bone in arms:
                found[track.bone, "contact"] = pose.apply(arms[track.bone])
        carriers = [track for track in tracks if not track.bone]
        if carriers and self.over is not None:
            matrices = object_matrices(self.armature, carriers[0], self.over)
            moved = {}
            for key, place in found.items():
                place = np.broadcast_to(place, (len(matrices), 3))
                moved[key] = np.einsum("mij,mj->mi", matrices[:, :3, :3], place)
                moved[key] += matrices[:, :3, 3]
            return {key: place * self.unit_scale for key, place in moved.items()}
        return {key: place * self.metres_per_unit for key, place in found.items()}

    def above(self, bone: str) -> set[str]:
        """A bone and those that it hangs on.

        Args:
            bone: its name.
        """
        return {bone, *(b.name for b in self.armature.pose.bones[bone].parent_recursive)}

    def reach(self) -> float:
        """Length of the longest limb in contact, or of a fair share of all bones.

        A foot may hang on the root alone, where something else bends its leg.
        """
        bones = self.armature.data.bones
        limbs = [sum(bones[name].length for name in c.limb) for c in self.contacts]
        return max(*limbs, 0.0, SHARE * sum(bone.length for bone in bones))

    def allowed(self) -> float:
        """Distance in metres that counts as none."""
        return verify.tolerance([self.reach()], self.metres_per_unit)


def evaluate(channel: keyframes.Channel, at: np.ndarray) -> np.ndarray:
    """Values (q,) of a keyed channel at some times, as Blender interpolates it.

    Args:
        channel: the keys.
        at: (q,) frames.
    """
    straight = np.interp(at, channel.frames, channel.values)
    left, right = channel.slopes_left, channel.slopes_right
    if left is None or right is None or len(channel.frames) < 2:
        return straight
    s = np.clip(np.searchsorted(channel.frames, at, side="right") - 1, 0, len(channel.frames) - 2)
    length = channel.frames[s + 1] - channel.frames[s]
    t = np.clip((at - channel.frames[s]) / length, 0.0, 1.0)
    curve = (
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * channel.values[s]
        + t * (1.0 - t) ** 2 * length * right[s]
        + t * t * (3.0 - 2.0 * t) * channel.values[s + 1]
        - t * t * (1.0 - t) * length * left[s + 1]
    )
    return curve if channel.straight is None else np.where(channel.straight[s], straight, curve)


def keyed_track(
    track: BoneTrack, channels: Sequence[keyframes.Channel], at: np.ndarray
) -> BoneTrack:
    """Channels of a bone at some times, as its keys have them.

    Args:
        track: the bone.
        channels: its keys.
        at: (q,) frames.
    """
    read: dict[str, list[np.ndarray]] = {}
    for channel in channels:
        read.setdefault(channel.data_path, []).append(evaluate(channel, at))
    located, turned = (
        np.stack(read[track.path(name)], axis=1) if values is not None else None
        for name, values in (("location", track.location), (track.property, track.rotation))
    )
    return replace(track, location=located, rotation=turned)


@dataclass(frozen=True)
class Keys:
    """Keys of one bone with straight lines between them.

    Attributes:
        frames: (k,) frames from the start of the motion.
        values: (k, c) channels.
    """

    frames: np.ndarray
    values: np.ndarray


def dense_keys(
    grid: sparse.KeyGrid, samples: np.ndarray, spans: Sequence[Span], level: np.ndarray
) -> Keys:
    """Keys on every frame, where contacts begin and end, and where they stand closer.

    Args:
        grid: times of the motion.
        samples: (m, c) channels of the bone.
        spans: its contacts.
        level: (frames - 1,) how often each frame is halved.
    """
    frames = [np.arange(float(grid.frames))]
    values = [samples[grid.whole]]
    begins, ends = (
        gap(grid.kinks, np.sort(np.array(times, dtype=float))) < sparse.AT_SAMPLE
        for times in ([span.begin for span in spans], [span.end for span in spans])
    )
    # The key on a frame does for what is right beside it.
    kept = (begins | ends) & (np.abs(grid.kinks - np.round(grid.kinks)) >= grid.spacing)
    kinks = grid.kinks[kept]
    if len(kinks):
        frames.append(kinks)
        values.append(sparse.at_kinks(grid, samples, begins, ends, True)[0][kept])
    level = np.minimum(level, int(-np.log2(grid.spacing)))
    for halved in range(1, int(level.max(initial=0)) + 1):
        step = 0.5**halved
        more = np.arange(step, grid.frames - 1.0, 2.0 * step)
        theirs = level[more.astype(int)]
        # What the next halving would not part from it, a kink does for.
        near = np.maximum(0.5 ** (theirs + 1), grid.spacing)
        more = more[(theirs >= halved) & (gap(more, kinks) > near)]
        if len(more):
            frames.append(more)
            values.append(grid.at(more).values(samples))
    joined = np.concatenate(frames)
    order = np.argsort(joined, kind="stable")
    return Keys(joined[order], np.concatenate(values)[order])


@dataclass(frozen=True)
class Look:
    """When bones are looked at.

    Attributes:
        at: (q,) frames from the start of the motion.
        known: (q,) bool, False between two samples with a kink between them: they do not tell
            how far each side goes on.
    """

    at: np.ndarray
    known: np.ndarray


def look(grid: sparse.KeyGrid, kinks: np.ndarray) -> Look:
    """When to look at bones.

    Args:
        grid: times of the motion.
        kinks: times at which a track may have a corner, frames from the start.
    """
    times = grid.times[grid.times <= grid.frames - 1]
    even = np.arange((grid.frames - 1) * PARTS + 1) / PARTS
    at = np.union1d(times, even[gap(even, times) > sparse.AT_SAMPLE])
    inside = kinks[gap(kinks, times) > sparse.AT_SAMPLE]
    unsure = np.isin(np.searchsorted(times, at), np.searchsorted(times, inside))
    return Look(at, np.isin(at, times) | ~unsure)


@dataclass(frozen=True)
class Comparison:
    """How far bones are from the motion.

    Attributes:
        look: when they were looked at.
        off: as `Rig.places`: (bone, what of it) -> (q,) metres.
    """

    look: Look
    off: Mapping[tuple[str, str], np.ndarray]

    def known(self, key: tuple[str, str]) -> np.ndarray:
        """(q,) how far a place is off as far as that is known, metres.

        Args:
            key: bone, and what of it.
        """
        return np.where(self.look.known, self.off[key], 0.0)

    def in_contact(self, contact: Contact) -> np.ndarray:
        """(q,) how far the end of a limb is off while it is in contact, metres.

        Args:
            contact: the limb.
        """
        spans = np.array([(span.begin, span.end) for span in contact.spans]).reshape(-1, 2)
        inside = covering(self.look.at, spans[:, 0] - 1e-6, spans[:, 1] + 1e-6) > 0
        off = [self.off[contact.bone, what] for what in ("head", "contact")]
        return np.where(inside, np.maximum(*off), 0.0)

    def worst(self, off: Mapping[str, np.ndarray]) -> tuple[float, str, float]:
        """Distance in metres, bone and time of what is farthest off.

        Args:
            off: bone -> (q,) metres.
        """
        bone = max(off, key=lambda name: float(off[name].max()))
        return float(off[bone].max()), bone, float(self.look.at[int(np.argmax(off[bone]))])


def compare(
    rig: Rig,
    truth: Mapping[tuple[str, str], np.ndarray],
    tracks: Sequence[BoneTrack],
    looked: Look,
) -> Comparison:
    """Compare where bones are with where the motion has them.

    Args:
        rig: the rig.
        truth: what `Rig.places` gives for the motion's own channels.
        tracks: channels of the same bones as their keys have them.
        looked: when.
    """
    shape = (len(looked.at), 3)
    off = {
        key: np.linalg.norm(np.broadcast_to(place - truth[key], shape), axis=1)
        for key, place in rig.places(tracks).items()
    }
    return Comparison(looked, off)


def closer(
    rig: Rig,
    where: str,
    compared: Comparison,
    exact: Sequence[BoneTrack],
    keyed: Sequence[BoneTrack],
    levels: dict[str, np.ndarray],
) -> set[str]:
    """Ask for keys closer together where that brings bones nearer to the motion.

    Args:
        rig: the rig.
        where: CONTACTS, or ANYWHERE.
        compared: how far the bones are off.
        exact: channels at the times that were looked at.
        keyed: the same, as the keys have them.
        levels: bone, "" for the object -> (frames - 1,) how much closer its keys are to be
            in each frame; raised by one where that helps.

    Returns:
        The bones for which some are asked for.
    """
    count = len(next(iter(levels.values())))
    frame = np.minimum(compared.look.at.astype(int), count - 1)
    off = [(c.bone, compared.in_contact(c) > SAFE * STANDS) for c in rig.contacts]
    if where == ANYWHERE:
        far = SAFE * rig.allowed()
        off += [(key[0], compared.known(key) > far) for key in compared.off]
    matters = {
        now.bone: _in_frames(frame, _moved(rig, then, now) > MATTERS * SAFE * STANDS, count)
        for then, now in zip(exact, keyed, strict=True)
    }
    wanted = {name: np.zeros(count, bool) for name in levels}
    for bone, times in off:
        bad = _in_frames(frame, times, count)
        if bad.any():
            for name in (rig.above(bone) | {""}) & set(levels):
                wanted[name] |= bad & matters[name]
    for name, more in wanted.items():
        more &= levels[name] < FINEST
        levels[name] += more
    return {name for name, more in wanted.items() if more.any()}


def _in_frames(frame: np.ndarray, times: np.ndarray, count: int) -> np.ndarray:
    """(count,) in which frames any of the times is, whose frames are given."""
    found = np.zeros(count, bool)
    found[frame[np.broadcast_to(times, frame.shape)]] = True
    return found


def _moved(rig: Rig, exact: BoneTrack, keyed: BoneTrack) -> np.ndarray:
    """(q,) about how far the end of a limb is off for what one bone is off alone, metres."""
    found = np.zeros(1)
    if exact.location is not None and keyed.location is not None:
        unit = exact.unit * rig.unit_scale or rig.metres_per_unit
        found = found + np.linalg.norm(exact.location - keyed.location, axis=1) * unit
    if exact.rotation is not None and keyed.rotation is not None:
        reach = rig.reach() * rig.metres_per_unit
        found = found + 2.0 * np.linalg.norm(exact.rotation - keyed.rotation, axis=1) * reach
    return found


def problem(
    rig: Rig,
    compared: Comparison,
    where: str,
    start_frame: int,
    fps: float,
) -> Problem | None:
    """How far bones are off between their keys, where that is more than nothing.

    Args:
        rig: the rig.
        compared: how far they are off.
        where: which bones get keys between frames.
        start_frame: frame of the first sample.
        fps: frames per second.
    """
    allowed = rig.allowed()
    farthest: dict[str, np.ndarray] = {}
    for key in compared.off:
        known = compared.known(key)
        farthest[key[0]] = np.maximum(farthest.get(key[0], known), known)
    distance, bone, time = compared.worst(farthest)
    said = f"Between its keys bone {bone} is off by up to {1000.0 * distance:.1f} mm, at frame " \
        f"{round(start_frame + time, 2):.10g}"
    slides = False
    if rig.contacts:
        far, held, when = compared.worst({c.bone: compared.in_contact(c) for c in rig.contacts})
        slides = far > STANDS
        if slides:
            said += f"; {held}, in contact, by {1000.0 * far:.1f} mm, at frame " \
                f"{round(start_frame + when, 2):.10g}"
            distance, bone, time = max((distance, bone, time), (far, held, when))
    if distance <= allowed and not slides:
        return None
    return Problem(
        code="BETWEEN_KEYS",
        message=said,
        severity="WARNING" if slides else "INFO",
        time=time / fps,
        bone=bone,
        amount=distance,
        remedy="Nothing, where pictures show whole frames; else set Subframes (Bake: Keys) "
        "to Wherever Needed" if where != ANYWHERE else "Nothing, or more frames a second",
    )


def left_out(
    contacts: Sequence[object], late: Mapping[str, str], where: str
) -> tuple[Problem, ...]:
    """A line for limbs in contact that get no keys between frames.

    Args:
        contacts: the contacts of the motion.
        late: keyed bone -> parent that only Blender can place, see `Plan.late`.
        where: which bones are to get keys between frames.
    """
    if not contacts or not late or where == NOWHERE:
        return ()
    return (
        Problem(
            code="NO_KEYS_BETWEEN",
            message=f"What moves bone {min(late.values())} looks at bones that are baked: there "
            "are no keys between frames, where what is in contact may slide",
            severity="WARNING",
            bone=min(late),
            remedy="Nothing, where pictures show whole frames; else mute that constraint or driver",
        ),
    )
