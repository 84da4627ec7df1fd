# SPDX-License-Identifier: GPL-3.0-or-later
"""Which controls of a rig's own carry a motion, and what has to be set for it.

Of the rig's controls some are driven: each goes rigidly with the bone of one
role, so that its world matrix is posed(role) * rest(role)^-1 * rest(control).
The others that could interfere are neutral: they stay in the rest pose. And
switches say how the driven ones act: limbs by IK towards poles, without
stretch, their targets in the space of the root. Rigify's bones in IK chains may
be squeezed and stretched by the solver even where a limb reaches: that, too,
is switched off. All of these a library override keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import bpy
import numpy as np

from ...errors import UserError
from ..pose import rotation_modes
from ..pose.channels import bone_of, bone_path
from ..recognise.rolemap import RoleMap
from ..recognise.skeleton import BoneRest
from ..recognise.skeleton import Skeleton as RestPose

# What a limb's controls are called after -> role of its end, and of its upper bone.
LIMBS = {"hand": "upper_arm", "foot": "thigh"}

# The same of an animal's legs, whose bones are counted from the body outward.
LEGS = ("hind", "fore")

# Controls of its third bone, and of the fourth where it has five.
HEELS = ("heel", "heel2")

# A control at the end of a bone is nearer to it than this share of the bone's length.
NEAR = 1e-3

# Values of a limb's switches: IK, of fixed length, bent towards its pole.
SWITCHES = {"IK_FK": 0.0, "IK_Stretch": 0.0, "pole_vector": True}

# Switches of parents -> the control whose parent they choose.
PARENTS = {"IK_parent": "ik", "pole_parent": "pole"}

_CHOSEN = re.compile(r"==\s*(\d+)")


@dataclass(frozen=True)
class Control:
    """A control that is driven.

    Attributes:
        name: what `rigify.controls` calls it.
        bone: its name on the rig.
        role: role whose bone carries it along.
        located: its place is driven.
        turned: its rotation is driven.
    """

    name: str
    bone: str
    role: str
    located: bool
    turned: bool


@dataclass(frozen=True)
class OwnControls:
    """The controls of a rig that matter to a motion.

    Attributes:
        driven: those that carry it, parents first.
        neutral: bones that have to rest.
        switches: bone with switches -> the controls whose parents it chooses:
            property -> bone.
        root: the bone in whose space IK targets and poles are, or "".
    """

    driven: tuple[Control, ...]
    neutral: tuple[str, ...]
    switches: Mapping[str, Mapping[str, str]]
    root: str

    def to_json(self) -> str:
        """The same as a string, to be stored on the controls."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> OwnControls:
        """Read it back.

        Args:
            text: what `to_json` gave.

        Raises:
            ValueError: it is something else.
        """
        try:
            stored = json.loads(text)
            return cls(
                driven=tuple(Control(**one) for one in stored["driven"]),
                neutral=tuple(stored["neutral"]),
                switches=stored["switches"],
                root=stored["root"],
            )
        except (TypeError, KeyError) as error:
            raise ValueError("these are no controls of a rig") from error

    def bones(self) -> list[str]:
        """Names of all its bones."""
        return [*(one.bone for one in self.driven), *self.neutral, *self.switches]


def find(rest: RestPose, rolemap: RoleMap, roles: Mapping[str, str]) -> OwnControls | None:
    """The controls of a rig, or None where it has none that a motion could be keyed on.

    Args:
        rest: all bones of the rig.
        rolemap: what was recognised.
        roles: role -> bone that has to be where the motion says.
    """
    known = {name: bone for name, bone in rolemap.controls.items() if bone in rest}
    legs = ("foot",) if rolemap.body == "BIPED" else LEGS
    limbs = [f"{leg}_{part}.{s}" for leg in legs for s in "LR" for part in ("ik", "pole", "switch")]
    if any(name not in known for name in ("torso", *limbs)):
        return None
    waist = _waist(rest, known, roles)
    driven: list[Control] = []

    def drive(name: str, role: str, located: bool = False, turned: bool = True) -> None:
        if name in known and role in roles:
            free = not rest.by_name[known[name]].connected
            driven.append(Control(name, known[name], role, located and free, turned))

    drive("root", "root", located=True)
    drive("torso", waist, located=True)
    drive("chest", "chest")
    trunk = [role for role in roles if role in ("pelvis", "chest") or role.startswith("spine.")]
    for role in trunk:
        if role != waist:
            drive(f"fk.{role}", role)
    tweak, above = known.get("tweak.chest", ""), known.get("fk.chest", "")
    if tweak and rest.by_name[tweak].parent != above:
        # The chest is where the spine is shared out: half of its turn would be lost.
        drive("tweak.chest", "chest")
    drive("neck", "neck.1")
    drive("head", "head")
    for role in roles:
        # One control carries a neck of several bones; its joints within would be the rig's affair.
        if role.startswith("neck.") and role != "neck.1" and rolemap.body != "BIPED":
            drive(f"tweak.{role}", role, located=True, turned=False)
    drive("eyes", "head", located=True)
    neutral = ["hips", f"fk.{waist}", *(f"tweak.{role}" for role in trunk), "tail"]
    switches: dict[str, dict[str, str]] = {}
    for role in roles:
        if role.startswith("tail."):
            drive(role, role)
    for side in "LR":
        # An animal's shoulder blade may hang on another bone of the trunk than its chest.
        drive(f"clavicle.{side}", f"clavicle.{side}", located=rolemap.body != "BIPED")
        for limb, upper in LIMBS.items() if rolemap.body == "BIPED" else ():
            drive(f"{limb}_ik.{side}", f"{limb}.{side}", located=True)
            drive(f"{limb}_pole.{side}", f"{upper}.{side}", located=True, turned=False)
        drive(f"foot_toe.{side}", f"toe.{side}")
        for leg in LEGS if rolemap.body != "BIPED" else ():
            carried = _carried(rest, known, roles, leg, rolemap.leg_roles(leg, side), side)
            if carried is None:
                return None
            for name, role in carried.items():
                # Heels hang on chains of IK that may end a little off.
                drive(name, role, located=name != f"{leg}_toe.{side}")
            drive(f"{leg}_pole.{side}", f"{leg}.1.{side}", located=True, turned=False)
        for limb in (*LIMBS, *LEGS):
            neutral += [f"{limb}_{part}.{side}" for part in ("spin", "heel", "base")]
            switch = known.get(f"{limb}_switch.{side}", "")
            if switch:
                switches[switch] = {
                    name: known[f"{limb}_{part}.{side}"]
                    for name, part in PARENTS.items()
                    if f"{limb}_{part}.{side}" in known
                }
    taken = {one.bone for one in driven}
    return OwnControls(
        driven=tuple(driven),
        neutral=tuple(dict.fromkeys(
            known[name] for name in neutral if name in known and known[name] not in taken
        )),
        switches=switches,
        root=known.get("root", ""),
    )


def _carried(
    rest: RestPose,
    known: Mapping[str, str],
    roles: Mapping[str, str],
    leg: str,
    segments: Sequence[str],
    side: str,
) -> dict[str, str] | None:
    """Control -> role of all that an animal's leg has beyond the two bones that IK bends.

    The control of a paw or hoof goes with the last bone of the leg and stands at one of its
    ends; every bone between has a heel, which turns it about its lower end. That of
    a foot as people have them stands where the third bone begins, and needs none.

    Returns:
        None where a bone has no control that places it.
    """
    def at(name: str, point: np.ndarray, bone: BoneRest) -> bool:
        off = rest.by_name[known[name]].head - point if name in known else np.inf
        return bool(np.linalg.norm(off) < NEAR * np.linalg.norm(bone.tail - bone.head))

    bones = [rest.by_name[roles[role]] for role in segments]
    target = f"{leg}_ik.{side}"
    stands = next((n for n, bone in enumerate(bones) if at(target, bone.head, bone)), -1)
    if stands < 0 and at(target, bones[-1].tail, bones[-1]):
        stands = len(bones) - 1
    if not 2 <= stands <= 2 + len(HEELS):
        return None
    found = {target: segments[stands]}
    for bone, role, heel in zip(bones[2:stands], segments[2:stands], HEELS, strict=False):
        if not at(f"{leg}_{heel}.{side}", bone.tail, bone):
            return None
        found[f"{leg}_{heel}.{side}"] = role
    found[f"{leg}_toe.{side}"] = segments[-1]
    return found


def _waist(rest: RestPose, known: Mapping[str, str], roles: Mapping[str, str]) -> str:
    """The role that the torso carries rigidly: what ends where the hips begin to turn."""
    pivot = rest.by_name[known.get("hips", known["torso"])].head
    below = [r for r in roles if r == "pelvis" or r.startswith("spine.")]
    return min(below, key=lambda r: float(np.linalg.norm(rest.by_name[roles[r]].tail - pivot)))


def held(rig: bpy.types.Object, own: OwnControls) -> dict[str, tuple]:
    """Data path -> values that a rig's properties must have while it is driven.

    Args:
        rig: the rig.
        own: its controls.
    """
    found: dict[str, tuple] = {}
    bones, drivers = rig.pose.bones, _drivers(rig)
    for name, parents in own.switches.items():
        if name not in bones:
            continue
        wanted: dict[str, float | bool] = dict(SWITCHES)
        for prop, control in parents.items():
            choice = _choice(rig, drivers, name, prop, control, own.root)
            if choice:
                wanted[prop] = choice
        for prop, value in wanted.items():
            if prop in bones[name]:
                path = f'{bone_path(name)}["{bpy.utils.escape_identifier(prop)}"]'
                found[path] = (type(bones[name][prop])(value),)
        for end in _ends(rig, drivers, name):
            found |= _unstretched(end)
    for one in own.driven:
        # What hangs on a chain that is squeezed would be squeezed with it.
        above = bones[one.bone].parent if one.bone in bones else None
        if above is not None:
            found |= _unstretched(above)
    for name in own.neutral:
        if name in bones:
            found |= at_rest(bones[name], ("location", "rotation", "scale"))
    for one in own.driven:
        if one.bone in bones:
            still = ("scale",) if one.located else ("location", "scale")
            found |= at_rest(bones[one.bone], still)
            if one.role.startswith("tail."):
                # Every bone of a tail turns on with the one before, on top of its own keys.
                for constraint in bones[one.bone].constraints:
                    if getattr(constraint, "target", None) == rig:
                        found[f"{constraint.path_from_id()}.influence"] = (0.0,)
    return found


# What is driven, its expression, and what drives it.
_Driver = tuple[str, str, list[str]]


def _drivers(rig: bpy.types.Object) -> list[_Driver]:
    """All drivers of a rig, read at once: they are many, and asked about for every limb."""
    return [
        (
            curve.data_path,
            curve.driver.expression,
            [v.targets[0].data_path for v in curve.driver.variables if v.targets],
        )
        for curve in (rig.animation_data.drivers if rig.animation_data is not None else ())
    ]


def _ends(
    rig: bpy.types.Object, drivers: Iterable[_Driver], switch: str
) -> list[bpy.types.PoseBone]:
    """Bones at the ends of the IK chains that a bone with switches drives."""
    found: dict[str, bpy.types.PoseBone] = {}
    start = bone_path(switch)
    for driven, _, by in drivers:
        path, _, name = driven.rpartition(".")
        if name != "mute" or not any(other.startswith(start) for other in by):
            continue
        owner = rig.pose.bones.get(bone_of(path))
        if owner is not None:
            found[owner.name] = owner
    return list(found.values())


def _unstretched(end: bpy.types.PoseBone) -> dict[str, tuple]:
    """Data path -> value with which IK that ends at a bone keeps its chain's lengths.

    It is the constraint's own switch: a library override keeps no ik_stretch of bones.
    """
    return {
        f"{constraint.path_from_id()}.use_stretch": (False,)
        for constraint in end.constraints
        if constraint.type == "IK"
    }


def at_rest(bone: bpy.types.PoseBone, kinds: Iterable[str]) -> dict[str, tuple]:
    """Data path -> value in the rest pose.

    Args:
        bone: the bone.
        kinds: what of it, of "location", "rotation" and "scale".
    """
    base = bone_path(bone.name)
    rotation = rotation_modes.PROPERTY[bone.rotation_mode]
    values = {
        "location": ("location", (0.0, 0.0, 0.0)),
        "scale": ("scale", (1.0, 1.0, 1.0)),
        "rotation": (rotation, rotation_modes.REST[rotation]),
    }
    return {f"{base}.{values[kind][0]}": values[kind][1] for kind in kinds}


def _choice(
    rig: bpy.types.Object,
    drivers: Iterable[_Driver],
    switch: str,
    prop: str,
    control: str,
    root: str,
) -> int:
    """Value of a parent switch that lets a control follow the root; 0 where there is none."""
    path = f'{bone_path(switch)}["{bpy.utils.escape_identifier(prop)}"]'
    parent = rig.pose.bones[control].parent if control in rig.pose.bones else None
    if parent is None:
        return 0
    for driven, expression, by in drivers:
        if path not in by:
            continue
        chosen = _CHOSEN.search(expression)
        target_path, _, name = driven.rpartition(".")
        if chosen is None or name != "weight":
            continue
        if not target_path.startswith(bone_path(parent.name)):
            continue
        try:
            target = rig.path_resolve(target_path)
        except ValueError:
            continue
        if target.subtarget == root:
            return int(chosen[1])
    return 0


def require_free(rig: bpy.types.Object, wanted: Mapping[str, tuple]) -> None:
    """Refuse a rig on which something else than keys has the last word.

    Args:
        rig: the rig.
        wanted: what `held` gave.

    Raises:
        UserError: it has Blender's iTaSC solver, whose IK depends on what was played
            before, or drivers set what the bake has to set.
    """
    if rig.pose.ik_solver != "LEGACY":
        raise UserError(
            f"{rig.name} solves its IK with iTaSC, which bends limbs in ways of its own: set IK "
            "Solver to Standard (Armature > Inverse Kinematics)"
        )
    for curve in rig.animation_data.drivers if rig.animation_data is not None else ():
        if curve.data_path in wanted and not curve.mute:
            bone = bone_of(curve.data_path)
            name = curve.data_path.removeprefix(bone_path(bone)).strip('.[]"')
            raise UserError(
                f"A driver sets {name} of bone {bone} on {rig.name}, which has to be "
                f"{wanted[curve.data_path][0]:g} for its controls to be keyed: mute or delete it"
            )
