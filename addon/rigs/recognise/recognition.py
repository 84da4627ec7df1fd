# SPDX-License-Identifier: GPL-3.0-or-later
"""From a skeleton to its role map: names first, structure to complete and to check."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from ....solvers import rotations
from . import rigify
from .body import LIMB, Body, Limb, read_body
from .names import parse, strip_prefix
from .rolemap import ENGINE, LEG, RoleMap, required, role_order
from .skeleton import Skeleton
from .structure import Found, find_roles, middle_legs, single_legs

SKINNED = 12  # so many bones with skin make a whole figure
FEW = 6  # rigs with fewer deforming bones are taken whole
SAME_PLACE = 1e-3  # of the size: joints that are closer are one
FOLDED = 0.4  # of a leg's length: closer to the hip than this no ankle of one who stands is
ALONG_BACK = 0.3  # cosine between legs and back from which on legs do not hang from it
UPRIGHT = 0.7  # cosine between a back and the world's up from which on it is upright

# What names a kind of rig: all of a row, without prefix and in lower case.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("VRM", ("j_bip_c_hips", "j_bip_l_upperleg")),
    ("VRM", ("hips", "leftupperleg", "leftlowerleg", "leftupperarm", "leftlowerarm")),
    ("UNREAL", ("pelvis", "spine_01", "thigh_l", "calf_l", "upperarm_l", "lowerarm_l")),
    ("BVH", ("hips", "lhipjoint", "leftupleg")),
    ("BVH", ("hips", "leftupleg", "leftleg", "lefttoebase", "leftforearm")),
    ("BVH", ("hips", "lefthip", "leftknee", "leftankle")),
    ("BVH", ("hip", "lthigh", "lshin", "lfoot")),
    ("BVH", ("hips", "leftupleg", "leftleg", "leftarm", "leftforearm")),
)
_MIXAMO = re.compile(r"mixamo", re.IGNORECASE)


def recognise(
    skeleton: Skeleton, use_names: bool = True, given: Mapping[str, str] | None = None
) -> RoleMap:
    """The roles of any rig; the same skeleton gives the same map.

    Args:
        skeleton: all bones of the rig.
        use_names: False reads the rig's shape alone.
        given: roles that are known, role -> bone; what is found is added to them.
    """
    given = {role: bone for role, bone in (given or {}).items() if bone in skeleton}
    if not len(skeleton) or not np.isfinite(skeleton.heads).all():
        note = "The rig has no bones" if not len(skeleton) else "Bones of the rig are nowhere"
        return RoleMap("STRUCTURE", "BIPED", {}, set(), {"pelvis"}, notes=(note + ".",))
    generated = use_names and rigify.is_rigify(skeleton)
    counted = (
        rigify.deforming(skeleton) if generated
        else _counted(skeleton, use_names, set(given.values()))
    )
    body = read_body(counted, use_names)
    found = find_roles(body, given)
    kind = "STRUCTURE"
    controls: dict[str, str] = {}
    if generated:
        kind = "RIGIFY_HUMAN" if found.body == "BIPED" else "RIGIFY_QUADRUPED"
        controls = rigify.controls(skeleton, found.roles)
        found.unsure.clear()
    elif skeleton.maker:
        kind = skeleton.maker
    elif use_names:
        kind = _kind(skeleton)
    if use_names and not generated:
        _check(counted, body, found)
    _doubts(body, found)
    found.unsure -= set(given)
    fallen = _fallen(body, found) if use_names and not generated else ""
    _top_root(skeleton, found)
    missing = _missing(found)
    roles = {role: found.roles[role] for role in sorted(found.roles, key=role_order)}
    return RoleMap(
        kind=kind,
        body=found.body,
        roles=roles,
        unsure=found.unsure & set(roles),
        missing=missing,
        turn=rotations.from_matrix(body.turn),
        notes=tuple(found.notes + _notes(skeleton, body, found, missing)),
        controls=controls,
        fallen=fallen,
    )


def engine_bones(skeleton: Skeleton, roles: Mapping[str, str]) -> dict[str, str]:
    """Roles of the bones by which game engines know where hands and feet are.

    They hang on the root, as Unreal's "ik_foot_l" and "ik_hand_gun" do; what hangs on a
    hand or foot goes along anyway.

    Args:
        skeleton: all bones of the rig.
        roles: its roles.
    """
    found: dict[str, str] = {}
    for bone in skeleton.bones:
        words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", bone.name).lower()))
        said = next((part for part in ("foot", "hand") if part in words), "")
        family = f"ik_{said}" if said and "ik" in words else ""
        if words & {"gun", "weapon"}:
            family = "weapon"
        if not family or "root" in words or bone.name in roles.values():
            continue
        ends = {side: roles.get(f"{ENGINE[family]}.{side}", "") for side in "LR"}
        ends = {side: end for side, end in ends.items() if end in skeleton}
        side = parse(bone.name).side
        if not side and family == "weapon" and ends:
            away = {s: float(np.linalg.norm(skeleton.head(e) - bone.head)) for s, e in ends.items()}
            side = min((far, s) for s, far in away.items())[1]
        if side in ends and ends[side] not in skeleton.ancestors(bone.name):
            found.setdefault(f"{family}.{side}", bone.name)
    return found


def legs_left(skeleton: Skeleton, rolemap: RoleMap) -> list[str]:
    """First bones of legs that no pair of legs has: in the middle of the body, or one-sided.

    Args:
        skeleton: all bones of the rig.
        rolemap: its roles, as they are used.
    """
    if rolemap.controls or rolemap.body == "BIPED":
        return []
    body = read_body(_counted(skeleton, True), True)
    found = Found(dict(rolemap.roles), body=rolemap.body)
    return sorted((*middle_legs(body, found), *single_legs(body, found)))


def _counted(
    skeleton: Skeleton, use_names: bool, given: Collection[str] = frozenset()
) -> Skeleton:
    """The bones that count: those that deform or have roles already, and what joins them."""
    deforming = {bone.name for bone in skeleton.bones if bone.deform} | set(given)
    if skeleton.skin:
        deforming |= {name for name, weight in skeleton.skin.items() if weight > 0.0}
    names = set(skeleton.by_name)
    if len(deforming) >= FEW and deforming != names:
        branches: dict[str, int] = {}
        carries: set[str] = set()
        for bone in reversed(skeleton.bones):
            below = [c for c in skeleton.children(bone.name) if c in carries]
            branches[bone.name] = len(below)
            if bone.name in deforming or below:
                carries.add(bone.name)
        names = deforming | {
            bone.name for bone in skeleton.bones
            if (branches[bone.name] >= 2 or not bone.parent) and bone.name in carries
        }
    names -= _copies(skeleton)
    if use_names:
        # What only controls and carries neither skin nor bones says nothing of the shape.
        names = {
            name for name in names
            if parse(name).helper != "control"
            or skeleton.skin.get(name, 0.0) > 0.0
            or any(below in names for below in skeleton.descendants(name))
        }
    # Where a whole figure is skinned, trees without any skin are controls and ends.
    skinned = {
        name for name in names
        if any(skeleton.skin.get(b, 0.0) > 0.0 for b in (name, *skeleton.descendants(name)))
    }
    if len(skinned) >= SKINNED:
        names = {name for name in names
                 if name in skinned or name in given or (use_names and _says_part(name))}
    counted = skeleton.only(names) if names != set(skeleton.by_name) else skeleton
    doubles = _doubles(counted, given)
    return counted.only(names - doubles) if doubles else counted


def _copies(skeleton: Skeleton) -> set[str]:
    """Bones of trees that repeat another one under numbered names, as joined rigs have."""
    found: set[str] = set()
    for root in skeleton.children(""):
        tree = [root, *skeleton.descendants(root)]
        copied = [
            name for name in tree
            if re.search(r"\.\d{3}$", name) and name[:-4] in skeleton
            and name[:-4] not in tree
        ]
        if len(tree) >= FEW and len(copied) > 0.9 * len(tree):
            found |= set(tree)
    return found


def _doubles(skeleton: Skeleton, given: Collection[str]) -> set[str]:
    """Bones of chains that lie on others, as copies of limbs for FK, IK or skin do: one counts.

    That is what has roles already, what the other one copies, what carries skin, and
    what has more bones and plainer names, in this order.
    """
    near = SAME_PLACE * skeleton.size
    heads = skeleton.heads
    same = {
        bone.name: [
            skeleton.bones[i].name
            for i in np.flatnonzero(np.linalg.norm(heads - bone.head, axis=1) <= near)
        ]
        for bone in skeleton.bones
    }
    found: set[str] = set()

    def worth(tree: list[str], other: list[str]) -> tuple:
        copied = all(
            skeleton.by_name[name].constraints in (("COPY_ROTATION",), ("COPY_TRANSFORMS",))
            and skeleton.by_name[name].targets[:1] and skeleton.by_name[name].targets[0] in tree
            for name in other if set(same[name]) & set(tree)
        )
        return (
            any(name in given for name in tree),
            copied,
            any(skeleton.skin.get(name, 0.0) > 0.0 for name in tree),
            len(tree),
            -sum(parse(name).unknown + bool(parse(name).tag) for name in tree[:1]),
        )

    for bone in skeleton.bones:
        for twin in same[bone.name]:
            if twin == bone.name or {twin, bone.name} & found:
                continue
            if parse(twin).side != parse(bone.name).side:
                continue
            first = [bone.name, *skeleton.descendants(bone.name)]
            second = [twin, *skeleton.descendants(twin)]
            if set(first) & set(second) or not _lies_on(skeleton, same, first, second):
                continue
            found |= set(second if worth(first, second) >= worth(second, first) else first)
    return found


def _lies_on(
    skeleton: Skeleton, same: Mapping[str, list[str]], first: list[str], second: list[str]
) -> bool:
    """Whether the smaller one of two trees of bones is a chain along the other."""
    small, large = sorted((first, second), key=len)
    places = [skeleton.head(name) for name in small]
    long = max(float(np.linalg.norm(place - places[0])) for place in places)
    on = sum(bool(set(same[name]) & set(large)) for name in small)
    return len(small) > 1 and long > LIMB * skeleton.size and on >= 0.75 * len(small)


def _says_part(name: str) -> bool:
    info = parse(name)
    return bool(info.parts) and info.helper != "control"


def _kind(skeleton: Skeleton) -> str:
    """Whose naming a rig follows."""
    plain = []
    mixamo = 0
    for bone in skeleton.bones:
        mixamo += bool(_MIXAMO.search(bone.name))
        name = re.sub(r"\.\d{3}$", "", strip_prefix(bone.name))
        plain.append(re.sub(r"^mixamorig\d*_?", "", name, flags=re.IGNORECASE))
    lower = [name.lower() for name in plain]
    known = {*lower, *_without_common_prefix(lower)}
    if mixamo * 2 > len(skeleton) or (
        {"headtop_end", "leftupleg", "leftforearm"} <= known
        or {"spine2", "lefthandthumb1", "lefttoebase", "lefthandindex2"} <= known
    ):
        return "MIXAMO"
    for kind, needed in _KINDS:
        if set(needed) <= known:
            return kind
    return "STRUCTURE"


def _without_common_prefix(names: list[str]) -> list[str]:
    """Names without what nearly all of them begin with."""
    starts: dict[str, int] = {}
    for name in names:
        for match in re.finditer(r"[_\-. ]", name):
            starts[name[: match.end()]] = starts.get(name[: match.end()], 0) + 1
    common = [start for start, count in starts.items() if count > 0.7 * len(names)]
    if not common:
        return names
    longest = max(common, key=len)
    return [name.removeprefix(longest) for name in names]


def _check(counted: Skeleton, body: Body, found: Found) -> None:
    """Mark what structure alone would see otherwise, where the name says little."""
    blind = read_body(counted, False)
    other = find_roles(blind)
    flipped = float(blind.left @ body.left) < 0.0
    for role, bone in found.roles.items():
        info = body.names[bone]
        said = info.parts.get(_part(role), 0.0)
        mine = _mirrored(role) if flipped else role
        if other.roles.get(mine) != bone and said < 0.6 and _part(role) != "root":
            found.unsure.add(role)
    if not any(info.parts for info in body.names.values()):
        found.notes.append("The names of the bones say nothing: roles come from the shape alone.")


def _part(role: str) -> str:
    return role.split(".")[0]


def _fallen(body: Body, found: Found) -> str:
    """Why a figure whose legs are called so does not stand in this pose, or "".

    Skeletons of recordings may have all their limbs along one axis, or folded: shape
    takes what hangs lowest for legs then.
    """
    legs, arms = ([limb for limb in body.limbs if _called(body, limb, parts)] for parts in
                  ({"thigh", "shin", "foot", "toe"}, {"upper_arm", "forearm", "hand"}))
    if {limb.side for limb in legs} != {"L", "R"}:
        return ""
    standing = {bone for role, bone in found.roles.items() if role.split(".")[0] in LEG}
    if standing & {name for limb in arms for name in limb.path}:
        return "its arms reach down where its legs should"
    chains = []
    for limb in legs:
        said = [name for name in limb.path if not body.names[name].helper
                and {"thigh", "shin", "foot"} & set(body.names[name].parts)]
        ankle = next((n for n in said if body.names[n].parts.get("foot", 0.0) >= 0.8), said[-1])
        chains.append(np.array([body.head(name) for name in said[: said.index(ankle) + 1]]))
    reach = [chain[-1] - chain[0] for chain in chains]
    lengths = [float(np.linalg.norm(np.diff(chain, axis=0), axis=1).sum()) for chain in chains]
    if min(np.linalg.norm(way) - FOLDED * length for way, length
           in zip(reach, lengths, strict=True)) < 0.0:
        return "its legs are folded"
    tops = [body.head(name) for name in body.trunk if not body.names[name].helper
            and {"head", "neck", "chest"} & set(body.names[name].parts)]
    tops = tops or [body.head(limb.root) for limb in arms]
    if not tops:
        return ""
    back = np.mean(tops, axis=0) - np.mean([chain[0] for chain in chains], axis=0)
    way = np.sum(reach, axis=0)
    along = float(back @ way) / max(float(np.linalg.norm(back) * np.linalg.norm(way)), 1e-30)
    if along > ALONG_BACK:
        return "its legs point the way its back does"
    upright = body.skeleton.upright
    if upright is not None and back @ upright > UPRIGHT * np.linalg.norm(back):
        return "its legs lie level" if along > -ALONG_BACK else ""
    return ""


def _called(body: Body, limb: Limb, parts: set[str]) -> bool:
    """Whether names say two or more of some parts of a limb."""
    said = {part for name in limb.path for part in body.names[name].parts
            if body.names[name].parts[part] >= 0.7}
    return len(said & parts) >= 2


def _mirrored(role: str) -> str:
    if role[-2:] in (".L", ".R"):
        return role[:-1] + ("R" if role.endswith("L") else "L")
    return role


def _doubts(body: Body, found: Found) -> None:
    """What was doubtful about directions makes sided or all roles doubtful."""
    if "forward" in body.doubts or "side" in body.doubts:
        found.unsure |= {role for role in found.roles if role[-2:] in (".L", ".R")}
    if "up" in body.doubts:
        found.unsure |= set(found.roles) - {"root"}


def _top_root(skeleton: Skeleton, found: Found) -> None:
    """The root is the topmost bone above the pelvis, deforming or not."""
    pelvis = found.roles.get("pelvis", "")
    if not pelvis:
        return
    above = skeleton.ancestors(pelvis)
    free = [name for name in above if name not in found.roles.values()]
    if "root" not in found.roles and free:
        found.roles["root"] = free[-1]


def _missing(found: Found) -> set[str]:
    return required(found.body, found.roles) - set(found.roles)


def _notes(skeleton: Skeleton, body: Body, found: Found, missing: set[str]) -> list[str]:
    notes = []
    if rigify.is_metarig(skeleton):
        notes.append(rigify.UNGENERATED)
    if "swapped" in body.doubts:
        notes.append("Bones called left are on the right of where feet and head point: "
                     "sides follow the shape.")
    if "forward" in body.doubts:
        notes.append("Nothing tells where the rig faces: check left and right.")
    if "up" in body.doubts:
        notes.append("It is not clear which way is up in the rest pose: check the roles.")
    if missing and not any(re.match(r"thigh\.|(fore|hind|leg\d+)\.", r) for r in found.roles):
        notes.append("No legs were found.")
    elif missing:
        notes.append(f"No bone was found for {', '.join(sorted(missing))}.")
    single = middle_legs(body, found)
    if single:
        notes.append(f"{', '.join(sorted(single))} in the middle of the body is no pair of legs, "
                     "as Poise moves them: it stays as it is.")
    return notes
