# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose of some bones, kept with a data-block: what it is, where it comes from, its mirror."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace

import bpy
import numpy as np

from ....solvers import rotations
from ... import compat, store
from ...digests import digest
from ...errors import UserError
from ..recognise import body, names
from ..skeletons import read_skeleton
from . import reader, rotation_modes
from .algebra import Basis
from .plays import Active

SCHEMA, VERSION = "poise.posture", 1


@dataclass(frozen=True)
class Source:
    """Where a posture was read.

    Attributes:
        action: full name of the action; "" for the pose of the rig itself.
        slot: handle of the slot of the action.
        frame: the frame of the action.
        mirrored: whether the posture is the mirror image of what was read.
    """

    action: str = ""
    slot: int = 0
    frame: float = 0.0
    mirrored: bool = False


POSE = Source()


@dataclass(frozen=True)
class Posture:
    """How some bones stand, in their own channels.

    Attributes:
        bones: their names.
        turns: (b, 4) unit quaternions, w >= 0.
        places: (b, 3) locations, in units of the armature.
        spins: (b, 3) whole turns about the bones' axes that their angles count besides.
        source: where it was read.
        digest: of what was read there.
    """

    bones: tuple[str, ...]
    turns: np.ndarray
    places: np.ndarray
    spins: np.ndarray
    source: Source = POSE
    digest: str = ""

    @classmethod
    def of_pose(cls, rig: bpy.types.Object, bones: Iterable[str] | None = None) -> Posture:
        """The pose of a rig as it stands.

        Args:
            rig: the rig.
            bones: names of bones; None for all.

        Raises:
            UserError: a bone is gone.
        """
        return cls._of(reader.posture(rig, bones), POSE)

    @classmethod
    def of_action(
        cls, rig: bpy.types.Object, source: Source, bones: Iterable[str] | None = None
    ) -> Posture:
        """What an action says of a rig's bones at a frame, whether the rig plays it or not.

        Args:
            rig: the rig.
            source: the action, its slot and the frame.
            bones: names of bones; None for all that the action has channels for.

        Raises:
            UserError: the action or its slot is gone, or keys none of the bones.
        """
        action = next((a for a in bpy.data.actions if a.name_full == source.action), None)
        if action is None:
            raise UserError(
                f"There is no action {source.action}: it was renamed or removed, so choose one anew"
            )
        if compat.slot_by_handle(action, source.slot) is None:
            raise UserError(
                f"Action {action.name} has lost the slot that was read: choose another one"
            )
        names = None if bones is None else [name for name in bones if name in rig.pose.bones]
        found = reader.keyed(rig, Active(action, source.slot), source.frame, names)
        if not found:
            raise UserError(
                f"Action {action.name} keys no such bone of {rig.name}: choose another action"
            )
        return cls._of(found, source)

    @classmethod
    def _of(cls, found: Mapping[str, Basis], source: Source) -> Posture:
        read = cls(
            tuple(found),
            *(
                np.concatenate([np.zeros((0, width)), *(getattr(b, name) for b in found.values())])
                for name, width in (("rotation", 4), ("place", 3), ("spins", 3))
            ),
            source,
        )
        return replace(read, digest=digest(read))

    def updated_from_source(self, rig: bpy.types.Object) -> Posture:
        """The same bones as their source has them now; those that it no longer has, as they were.

        Its digest is that of this posture as long as nothing has changed there.

        Args:
            rig: the rig.

        Raises:
            UserError: the source is gone.
        """
        source = replace(self.source, mirrored=False)
        # The mirror image of a bone is told by that of the other side.
        bones = None if self.source.mirrored else self.bones
        if source.action:
            now = Posture.of_action(rig, source, bones)
        else:
            known = bones and [name for name in bones if name in rig.pose.bones]
            now = Posture.of_pose(rig, known)
        if self.source.mirrored:
            now = now.mirrored(rig)
        return Posture._of(self._bases() | {
            name: one for name, one in now._bases().items() if name in self.bones
        }, self.source)

    def _bases(self) -> dict[str, Basis]:
        rows = zip(self.places, self.turns, self.spins, strict=True)
        return {
            name: Basis(place[None], turn[None], np.ones((1, 3)), spin[None])
            for name, (place, turn, spin) in zip(self.bones, rows, strict=True)
        }

    def only(self, bones: Iterable[str]) -> Posture:
        """The same posture of some of its bones alone.

        Args:
            bones: their names; those that it does not have are left out.
        """
        wanted = set(bones)
        found = {name: one for name, one in self._bases().items() if name in wanted}
        return Posture._of(found, self.source)

    def over(self, other: Posture) -> Posture:
        """This posture, and of bones that it does not have how they stand in another one.

        Args:
            other: the posture below.
        """
        return Posture._of(other._bases() | self._bases(), self.source)

    def mirrored(self, rig: bpy.types.Object) -> Posture:
        """The mirror image, left and right exchanged; bones of one side alone are left out.

        Turns and places are reflected in armature space, so that it does not matter how the
        rolls of the two sides are related.

        Args:
            rig: the rig, whose rest pose and names of bones tell what is whose mirror image.
        """
        skeleton = read_skeleton(rig)
        said = {bone.name: names.parse(bone.name) for bone in skeleton.bones}
        rest = skeleton.by_name
        pairs = [pair for pair in body.mirrored(skeleton, said)]
        other = dict(pairs) | {right: left for left, right in pairs}
        across = np.abs(sum((rest[a].head - rest[b].head for a, b in pairs), np.zeros(3)))
        flip = np.ones(3)
        flip[int(np.argmax(across))] = -1.0
        found = {}
        for name, one in self._bases().items():
            if name not in rest or (name not in other and said[name].side):
                continue
            there = other.get(name, name)
            # From the axes of the one through the mirror into those of the other. What turns,
            # turns about an axis that a mirror leaves the other way round.
            over = (rest[there].axes.T * flip) @ rest[name].axes
            moved = (_located(rig, there).T * flip) @ _located(rig, name)
            turn = np.concatenate((one.rotation[:, :1], -one.rotation[:, 1:] @ over.T), axis=1)
            found[there] = replace(
                one, place=one.place @ moved.T, rotation=rotations.normalise(turn),
                spins=-one.spins @ over.T,
            )
        return Posture._of(found, replace(self.source, mirrored=not self.source.mirrored))

    def apply(self, rig: bpy.types.Object) -> list[str]:
        """Pose a rig's bones so; nothing is keyed.

        Args:
            rig: the rig.

        Returns:
            Names of the bones that it does not have.

        Raises:
            UserError: the rig is linked from another file.
        """
        if rig.library is not None:
            raise UserError(
                f"{rig.name} is linked from another file and cannot be posed: make a library "
                "override of it first (Object > Library Override > Make)"
            )
        for name, turn, place, spin in zip(
            self.bones, self.turns, self.places, self.spins, strict=True
        ):
            bone = rig.pose.bones.get(name)
            if bone is None:
                continue
            mode = bone.rotation_mode
            setattr(
                bone, rotation_modes.PROPERTY[mode], rotation_modes.with_turns(turn, spin, mode)
            )
            if not bone.bone.use_connect:
                bone.location = place
        return [name for name in self.bones if name not in rig.pose.bones]

    def keep(self, owner: bpy.types.ID, name: str) -> None:
        """Keep it with a data-block.

        Args:
            owner: a local data-block; a Motion object, where the rig is a library override.
            name: name of the custom property.
        """
        store.put(owner, name, SCHEMA, VERSION, {
            "bones": json.dumps(self.bones), "turns": self.turns, "places": self.places,
            "spins": self.spins, "read": self.digest,
            "source": json.dumps(astuple(self.source)),
        })

    @classmethod
    def kept(cls, owner: bpy.types.ID, name: str, label: str = "The posture") -> Posture | None:
        """What `keep` kept; None where there is none.

        Args:
            owner: the data-block.
            name: name of the custom property.
            label: what the animator knows it as.

        Raises:
            UserError: it is not what was kept.
        """
        try:
            held = store.get(owner, name, SCHEMA, VERSION)
            if held is None:
                return None
            action, slot, frame, mirrored = json.loads(held["source"])
            return cls(
                tuple(map(str, json.loads(held["bones"]))),
                *(held[part].reshape(-1, width)
                  for part, width in (("turns", 4), ("places", 3), ("spins", 3))),
                Source(str(action), int(slot), float(frame), bool(mirrored)), str(held["read"]),
            )
        except store.SPOILT as error:
            raise UserError(
                f"{label} of {owner.name} cannot be read ({error}): set it anew from a pose"
            ) from error


def _located(rig: bpy.types.Object, name: str) -> np.ndarray:
    """(3, 3) axes of a bone's location in the rest pose, as columns in armature space."""
    bone = rig.data.bones[name]
    if bone.use_local_location:
        return np.array(bone.matrix_local.to_3x3(), dtype=float)
    return np.array(bone.parent.matrix_local.to_3x3()) if bone.parent else np.eye(3)
