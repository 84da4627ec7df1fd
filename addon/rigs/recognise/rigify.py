# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that Rigify generated: which bones move the mesh, which the animator moves.

Rigify makes three layers: "DEF-" bones carry skin, "ORG-" bones are those of
the metarig, "MCH-" bones only work; all others are controls. A limb's controls
are called after its bones: thigh_ik_target (pole), thigh_parent (switches),
thigh_fk, foot_ik and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from .rolemap import ARM, LEG, SIDES
from .skeleton import Skeleton

UNGENERATED = (
    "This is a meta-rig: click Generate Rig (Armature > Rigify) and set up the rig that it makes."
)

_SIDED = re.compile(r"^(.*?)([._-](?:[LRlr]|left|right|Left|Right))?(\.\d{3})?$")
_NUMBERED = re.compile(r"\.\d{3}$")


def is_rigify(skeleton: Skeleton) -> bool:
    """Whether Rigify generated the rig.

    Args:
        skeleton: all its bones.
    """
    count = {
        tag: sum(1 for bone in skeleton.bones if bone.name.startswith(tag))
        for tag in ("DEF-", "ORG-", "MCH-")
    }
    # A skeleton exported for a game keeps the names, but none of the controls.
    return count["DEF-"] >= 5 and count["ORG-"] >= 5 and count["MCH-"] >= 1


def is_metarig(skeleton: Skeleton) -> bool:
    """Whether the rig is what Rigify generates rigs from: an animator moves what it makes of it.

    Args:
        skeleton: all its bones.
    """
    if is_rigify(skeleton):
        return False
    typed = any("rigify_type" in bone.properties for bone in skeleton.bones)
    # Blender keeps the types to itself while Rigify is switched off.
    return typed or {"spine", "spine.003", "thigh.L", "shin.L", "heel.02.L"} <= set(
        skeleton.by_name
    )


def deforming(skeleton: Skeleton) -> Skeleton:
    """The bones that carry skin, one for each bone of the metarig, hung as they move.

    Args:
        skeleton: all bones of the rig.
    """
    kept: dict[str, str] = {}
    halves: dict[str, str] = {}
    for bone in skeleton.bones:
        name = bone.name
        if not name.startswith("DEF-"):
            continue
        base = _NUMBERED.sub("", name)
        if base != name and base in kept and "ORG-" + name[4:] not in skeleton:
            halves[name] = base  # the rest of a limb bone that bends
            continue
        kept[name] = ""
    hung: dict[str, str] = {}
    for name in kept:
        above = ""
        for parent in _parents(skeleton, name, kept, halves):
            above = parent
            while above and above != name:
                above = hung.get(above, "")
            if not above:  # it does not hang from itself
                hung[name] = parent
                break
        hung.setdefault(name, "")
    kept = hung
    root = next((b.name for b in skeleton.bones if not b.parent and b.name == "root"), "")
    if root:
        for name, parent in kept.items():
            if not parent:
                kept[name] = root
        kept[root] = ""
    return skeleton.hung(kept)


def _parents(
    skeleton: Skeleton, name: str, kept: Mapping[str, str], halves: Mapping[str, str]
) -> Iterator[str]:
    """Bones that a deforming bone may hang from, the likeliest first.

    Deforming bones of one chain are parented as it suits stretching, some of them
    backwards; the metarig's own bones and where bones touch tell more.
    """
    def kept_above(start: str) -> Iterator[str]:
        for ancestor in skeleton.ancestors(start) if start in skeleton else ():
            other = "DEF-" + ancestor[4:] if ancestor.startswith("ORG-") else ancestor
            other = halves.get(other, other)
            if other in kept and other != name:
                yield other
                return

    head = skeleton.head(name)
    touching = [
        (float(np.linalg.norm(skeleton.by_name[other].tail - head)), halves.get(other, other))
        for other in (*kept, *halves)
        if halves.get(other, other) != name
    ]
    yield from kept_above("ORG-" + name[4:])
    if touching and min(touching)[0] < 0.001 * skeleton.size:
        yield min(touching)[1]
    yield from kept_above(name)
    if touching and min(touching)[0] < 0.05 * skeleton.size:
        yield min(touching)[1]


def joints(skeleton: Skeleton, roles: Mapping[str, str]) -> dict[str, str]:
    """Role -> the bone that stands exactly where the rig's controls put the role.

    Limbs, girdles and head are those of the metarig ("ORG-"): they have the
    limb's whole length, while bones with skin are halved, bent and stretched
    between tweaks. Between pelvis and chest, and in the neck, it is the other
    way round: only the bones with skin point from joint to joint.

    Args:
        skeleton: all bones of the rig.
        roles: role -> deforming bone.
    """
    found = {}
    for role, bone in roles.items():
        original = "ORG-" + bone[4:]
        between = role.startswith(("spine.", "neck.", "tail."))
        moved = bone.startswith("DEF-") and original in skeleton and not between
        found[role] = original if moved else bone
    return found


def controls(skeleton: Skeleton, roles: Mapping[str, str]) -> dict[str, str]:
    """The bones that the animator moves.

    Keys: "root", "torso", "hips", "chest", "neck", "head", "eyes"; "clavicle.L";
    for each bone of the trunk "fk.<role>" and "tweak.<role>", and for those of the neck the
    latter; "tail.1" and so on, "tail"; for the limb whose name is "foot" or "hand" (bipeds),
    "hind" or "fore" (quadrupeds): "<limb>_ik.L", "<limb>_pole.L", "<limb>_switch.L" (it
    has the properties IK_FK, IK_Stretch, IK_parent, pole_vector and the like),
    "<limb>_base.L" (the upper end of the IK chain), "<limb>_heel.L", "<limb>_heel2.L" (of a
    paw with one bone more), "<limb>_spin.L", "<limb>_toe.L", and "<limb>_fk.1.L" and so on
    from the body outward.

    Args:
        skeleton: all bones of the rig.
        roles: role -> deforming bone.
    """
    found: dict[str, str] = {}

    def give(key: str, *names: str) -> None:
        name = next((n for n in names if n in skeleton), "")
        if name and key not in found:
            found[key] = name

    for key in ("root", "torso", "hips", "chest", "neck", "head", "eyes"):
        give(key, key)
    for role, bone in roles.items():
        if role.startswith(("clavicle.", "tail.")):
            give(role, bone[4:])
        if role in ("pelvis", "chest") or role.startswith("spine."):
            number = _NUMBERED.search(bone)
            ending = number[0] if number else ""
            give(f"fk.{role}", f"{_NUMBERED.sub('', bone[4:])}_fk{ending}")
            give(f"tweak.{role}", f"tweak_{bone[4:]}")
        elif role.startswith("neck."):
            give(f"tweak.{role}", f"tweak_{bone[4:]}")
    first = roles.get("tail.1", "")
    if "tail" in first:
        give("tail", re.sub(r"tail", "tail_master", first[4:], count=1), "tail_master")
    for side in SIDES:
        for limb, segments in (
            ("hand", [f"{part}.{side}" for part in ARM[1:]]),
            ("foot", [f"{part}.{side}" for part in LEG]),
            ("fore", [f"fore.{i}.{side}" for i in range(1, 9)]),
            ("hind", [f"hind.{i}.{side}" for i in range(1, 9)]),
        ):
            bones = [roles[role] for role in segments if role in roles]
            _limb(skeleton, limb, side, [b[4:] for b in bones if b.startswith("DEF-")], give)
    return found


def _limb(skeleton: Skeleton, limb: str, side: str, bones: list[str], give) -> None:
    """Controls of one limb, from the names of its bones in the metarig."""
    if not bones:
        return
    parts = [_parts(bone) for bone in bones]
    # A shoulder before the limb itself has no controls of the limb.
    while len(parts) > 2 and "{}_parent{}".format(*parts[0]) not in skeleton:
        parts = parts[1:]
        bones = bones[1:]

    def named(index: int, word: str) -> str:
        base, ending = parts[index]
        return f"{base}_{word}{ending}"

    give(f"{limb}_pole.{side}", named(0, "ik_target"))
    give(f"{limb}_switch.{side}", named(0, "parent"))
    give(f"{limb}_base.{side}", named(0, "ik"))
    for index in range(1, len(bones)):
        give(f"{limb}_ik.{side}", named(index, "ik"))
        give(f"{limb}_heel.{side}", named(index, "heel_ik"))
        give(f"{limb}_spin.{side}", named(index, "spin_ik"))
    last = len(bones) - 1
    if last == 4:
        give(f"{limb}_heel2.{side}", named(3, "ik"))
    if last and limb != "hand":
        give(f"{limb}_toe.{side}", named(last, "ik"), bones[last])
    for index in range(len(bones)):
        give(f"{limb}_fk.{index + 1}.{side}", named(index, "fk"))


def _parts(name: str) -> tuple[str, str]:
    match = _SIDED.match(name)
    assert match is not None  # it matches anything
    return match[1], match[2] or ""
