# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles from the shape of a body: legs, pelvis, spine, arms, head and tail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from . import limbs as joints
from .body import Body, Limb, cloth, limb_from, pairs, standing, tip_height, trunk_root

Pair = tuple[Limb | None, Limb | None]

DORSAL = 0.01  # share of the body's size that wings are behind arms, at least
LEVEL = float(np.radians(35.0))  # slope up to which a back is level
NECK = float(np.radians(20.0))  # slope from which on what goes on from a level back is its neck
SMALL_ARM = 0.12  # share of its leg's length that an arm of an animal has at least


@dataclass(eq=False)
class Found:
    """Roles found so far.

    Attributes:
        roles: role -> bone.
        unsure: roles that were guessed with doubt.
        body: "BIPED", "QUADRUPED" or "LEGS".
        notes: sentences for the animator.
    """

    roles: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    body: str = "BIPED"
    notes: list[str] = field(default_factory=list)

    def give(self, role: str, bone: str, sure: bool = True) -> None:
        """Give a role to a bone that has none yet.

        Args:
            role: the role.
            bone: the bone.
            sure: whether there is no doubt.
        """
        if not bone or bone in self.roles.values() or role in self.roles:
            return
        self.roles[role] = bone
        if not sure:
            self.unsure.add(role)


def find_roles(body: Body, given: Mapping[str, str] | None = None) -> Found:
    """The roles of a body.

    Args:
        body: the body, with its directions.
        given: roles that are known, role -> bone of the body: what they make a leg or
            an arm is one.
    """
    given = given or {}
    found = Found(dict(given))
    down = {limb.root for limb in standing(body)}
    # A leg that was cut short stands on the ground through its partner.
    legs = [
        pair for pair in pairs(body.limbs, body)
        if any(limb is not None and limb.root in down for limb in pair)
    ]
    legs = _called_legs(body, [pair for pair in legs if _is_leg(body, pair, legs)])
    if all(_armlike(body, pair) for pair in legs):
        legs = []
    hanging = cloth(body, legs)
    legs = [pair for pair in legs if not any(limb and limb.root in hanging for limb in pair)]
    legs.sort(key=lambda pair: -_place(body, pair))
    on_ground = {limb.root for pair in legs for limb in pair if limb is not None}
    picked = _given_pair(body, given, ("thigh", "shin", "foot"))
    if picked is not None:
        legs = [picked]
        on_ground |= {limb.root for limb in body.limbs if _shares(limb, picked)}
    found.body = {0: "BIPED", 1: "BIPED", 2: "QUADRUPED"}.get(len(legs), "LEGS")
    others = [limb for limb in body.limbs if limb.root not in on_ground | hanging]

    pelvis = given.get("pelvis") or _pelvis(body, legs)
    arms = _given_pair(body, given, ("clavicle", "upper_arm", "forearm"))
    if arms is None and (found.body != "QUADRUPED" or _named_arms(body, legs)):
        arms = _arms(body, others, pelvis) or _forelimbs(body, others, pelvis, legs)
    chest = _chest(body, legs, arms, pelvis, found.body)
    chest = given.get("chest") or _by_neck(body, _below_neck(body, chest))
    pelvis = given.get("pelvis") or _rearmost(body, _named_pelvis(body, pelvis))
    root, pelvis, spine = _trunk(body, pelvis, chest)
    found.give("pelvis", pelvis)
    if root and root != pelvis:
        found.give("root", root)
    if chest and chest != pelvis:
        for number, bone in enumerate(spine, 1):
            found.give(f"spine.{number}", bone)
        found.give("chest", chest, arms is not None or found.body != "BIPED")
    _neck_and_head(body, found, chest or pelvis, pelvis)
    _withers(body, found, legs)
    if arms is not None:
        for side, limb in zip("LR", arms, strict=True):
            if limb is not None:
                found_joints = joints.arm(body, limb)
                for role, bone in found_joints.bones.items():
                    found.give(f"{role}.{side}", bone, found_joints.sure)
    _legs(body, found, legs)
    _tail(body, found, pelvis, root, bool(hanging))
    _eyes(body, found)
    return found


def _given_pair(body: Body, given: Mapping[str, str], parts: tuple[str, ...]) -> Pair | None:
    """The limbs of which first bones are given, the partner of one among what is there."""
    found: dict[str, Limb] = {}
    for side in "LR":
        bones = [given[f"{part}.{side}"] for part in parts if f"{part}.{side}" in given]
        if bones and bones[0] in body.skeleton and f"{parts[-1]}.{side}" != bones[0]:
            found[side] = limb_from(body, bones[0], bones[-1], side)
    if not found:
        return None
    if len(found) == 1:
        (side, limb), = found.items()
        for pair in pairs(body.limbs, body):
            mine, other = pair if side == "L" else pair[::-1]
            if mine is not None and other is not None and _shares(mine, (limb, None)):
                found["R" if side == "L" else "L"] = other
    return found.get("L"), found.get("R")


def _shares(limb: Limb, pair: Pair) -> bool:
    """Whether a limb and one of a pair have bones in common."""
    return any(other is not None and set(limb.path) & set(other.path) for other in pair)


def _place(body: Body, pair: Pair) -> float:
    """How far ahead a pair of limbs begins."""
    roots = [limb.path[min(1, len(limb.path) - 1)] for limb in pair if limb is not None]
    return float(np.mean([body.ahead(name) for name in roots]))


def _is_leg(body: Body, pair: Pair, legs: list[Pair]) -> bool:
    """Whether a pair that reaches the ground is a leg: no tail, cloth or single stray."""
    if all(limb is not None for limb in pair):
        first = pair[0]
        assert first is not None
        says = [body.names[name] for name in first.path]
        return sum(info.helper in ("soft", "control") for info in says) * 2 <= len(says)
    only = next(limb for limb in pair if limb is not None)
    named = any(
        {"thigh", "shin", "foot", "leg"} & set(body.names[name].parts) for name in only.path
    )
    whole = [pair for pair in legs if pair[0] is not None and pair[1] is not None]
    long = max((limb.length for pair in whole for limb in pair if limb is not None), default=0.0)
    return named or only.length > 0.6 * long


def _called_legs(body: Body, legs: list[Pair]) -> list[Pair]:
    """Without pairs of which names say nothing, where they call others legs: cloth hangs down."""
    said = [
        {part for limb in pair if limb is not None for name in limb.path
         for part in body.names[name].parts}
        for pair in legs
    ]
    if not any(len(parts & {"thigh", "shin", "foot", "toe"}) >= 2 for parts in said):
        return legs
    return [pair for pair, parts in zip(legs, said, strict=True) if parts]


def _armlike(body: Body, pair: Pair) -> bool:
    """Whether names call a pair of limbs arms, and in no word legs."""
    parts = {
        part for limb in pair if limb is not None for name in limb.path
        for part in body.names[name].parts
    }
    arms, legs = {"arm", "upper_arm", "forearm", "hand"}, {"leg", "thigh", "shin", "foot", "toe"}
    return len(arms & parts) >= 2 and not legs & parts


def _common(body: Body, limbs: list[Limb]) -> str:
    """The nearest bone that all the limbs hang from, or ""."""
    ways = []
    for limb in limbs:
        if not limb.attach:
            continue
        ways.append([limb.attach, *body.skeleton.ancestors(limb.attach)])
    if not ways:
        return ""
    return next((bone for bone in ways[0] if all(bone in way for way in ways[1:])), "")


def _root_of(body: Body) -> str:
    """The bone without a parent that the trunk hangs from."""
    root = trunk_root(body.skeleton, body.left, body.offset)
    return root if root in body.trunk else next(iter(body.trunk), "")


def _pelvis(body: Body, legs: list[Pair]) -> str:
    """The bone that carries the hind legs, or what the names say, or the root's best."""
    if legs:
        hind = [limb for limb in legs[-1] if limb is not None]
        bone = _common(body, hind)
        way = body.skeleton.ancestors(hind[0].root)[::-1]
        while bone and "tail" in body.names[bone].parts:
            # A rig that hangs from the tip of its tail.
            further = way[way.index(bone) + 1 :]
            if not further:
                break
            bone = further[0]
        if bone:
            return bone
    named = [
        (body.names[name].parts.get("pelvis", 0.0), -i, name)
        for i, name in enumerate(body.trunk)
        if body.names[name].parts.get("pelvis", 0.0) > 0.5 and not body.names[name].helper
    ]
    if named:
        return max(named)[2]
    # Where the trunk first divides, or bears a limb.
    bone = _root_of(body)
    bearing = {limb.attach for limb in body.limbs}
    while bone:
        inside = [c for c in body.skeleton.children(bone) if c in body.trunk]
        if len(inside) != 1 or bone in bearing:
            break
        if body.skeleton.parent(bone) and len(body.skeleton.children(bone)) == 1:
            break
        bone = inside[0]
    return bone


def _named_arms(body: Body, legs: list[Pair]) -> bool:
    return any(
        {"arm", "upper_arm", "forearm", "hand"} & set(body.names[limb.path[-1]].parts)
        for pair in legs for limb in pair if limb is not None
    )


def _arms(body: Body, others: list[Limb], pelvis: str) -> Pair | None:
    """The pair of limbs that are arms."""
    size = body.skeleton.size
    best: tuple[float, int, Pair] | None = None
    winged = _wings(body, others)
    for rank, pair in enumerate(pairs(tuple(others), body)):
        if any(limb is not None and limb.root in winged for limb in pair):
            continue
        present = [limb for limb in pair if limb is not None]
        parts: set[str] = set()
        soft = 0
        for limb in present:
            for name in limb.path:
                parts |= set(body.names[name].parts)
                soft += body.names[name].helper in ("soft", "control")
        named = len({"clavicle", "upper_arm", "forearm", "hand", "arm"} & parts)
        if {"thigh", "shin", "foot", "toe", "leg", "eye"} & parts and not named:
            continue
        length = max(limb.length for limb in present)
        joints_count = max(len(limb.path) for limb in present)
        if not named and (length < 1.4 * 0.12 * size or joints_count < 3 or len(present) < 2):
            continue
        if soft and not named:
            continue
        score = named + 2.0 * length / size + 0.5 * (len(present) == 2)
        if best is None or score > best[0] + 1e-9:
            best = (score, rank, pair)
    return None if best is None else best[2]


def _rise(body: Body, first: str, second: str) -> float:
    """Slope in rad of the way from one bone to another, upward where it goes ahead."""
    way = body.head(second) - body.head(first)
    return float(np.arctan2(way @ body.up, way @ body.forward))


def _level(body: Body, pelvis: str) -> list[str]:
    """The bones of a trunk that lies level, from the pelvis to the head; [] if it is upright."""
    # The back may hang beside the pelvis on a bone in the middle of the body.
    above = [pelvis, *body.skeleton.ancestors(pelvis)]
    chains = [
        [start, *chain] for start in above for chain in _trunk_chains(body, start)
        if not set(chain) & set(above)
    ]
    ahead = [c for c in chains if len(c) > 2 and body.ahead(c[-1]) > body.ahead(pelvis)]
    if not ahead:
        return []
    best = max(ahead, key=lambda chain: body.ahead(chain[-1]) + body.height(chain[-1]))
    return best if abs(_rise(body, best[0], best[len(best) // 2])) < LEVEL else []


def _forelimbs(body: Body, others: list[Limb], pelvis: str, legs: list[Pair]) -> Pair | None:
    """The small arms of an animal on two legs whose trunk lies level, before its pelvis."""
    trunk = _level(body, pelvis) if pelvis and legs else []
    if not trunk:
        return None
    leg = max(limb.length for pair in legs for limb in pair if limb is not None)
    found = []
    for pair in pairs(tuple(others), body):
        left, right = pair
        if left is None or right is None or {left.attach, right.attach} - set(trunk[1:-1]):
            continue
        said = {word for limb in (left, right) for name in limb.path
                for word in (*body.names[name].parts, body.names[name].helper) if word}
        length = min(left.length, right.length)
        if not said and length > SMALL_ARM * leg and min(len(left.path), len(right.path)) >= 3:
            found.append((length, pair))
    return max(found, key=lambda one: one[0])[1] if found else None


def _wings(body: Body, others: list[Limb]) -> set[str]:
    """First bones of limbs that are wings, where no name says so and arms are there too.

    Feathers or the fingers of a membrane hang all along a wing; of two such pairs on one
    back, one is behind the other.
    """
    size = body.skeleton.size
    found = []
    for pair in pairs(tuple(others), body):
        left, right = pair
        if left is None or right is None or len(left.path) < 3:
            continue
        if any(body.names[name].parts for limb in (left, right) for name in limb.path):
            continue
        if min(left.length, right.length) > 1.4 * 0.12 * size:
            found.append(pair)
    if len(found) < 2:
        return set()

    def feathered(limb: Limb) -> int:
        """Joints before its last two from which more hangs than the limb goes on."""
        return sum(len(body.skeleton.children(name)) > 1 for name in limb.path[1:-2])

    def key(pair: Pair) -> tuple[int, float]:
        left, right = pair
        assert left is not None and right is not None
        behind = 0.5 * (body.ahead(left.root) + body.ahead(right.root))
        return min(feathered(left), feathered(right)), -behind

    last = max(found, key=key)
    rest = [pair for pair in found if pair is not last]
    count, behind = key(last)
    if count > max(key(pair)[0] for pair in rest) or behind > DORSAL * size + max(
        key(pair)[1] for pair in rest
    ):
        return {limb.root for limb in last if limb is not None}
    return set()


def _chest(body: Body, legs: list[Pair], arms: Pair | None, pelvis: str, kind: str) -> str:
    """The bone that carries the shoulders; without any, the last of the spine by name."""
    carried = arms if arms is not None else (legs[0] if len(legs) > 1 else None)
    if carried is not None:
        bone = _common(body, [limb for limb in carried if limb is not None])
        if bone:
            return bone
    named = [
        name for name in body.skeleton.descendants(pelvis)
        if name in body.trunk
        and {"chest", "spine"} & set(body.names[name].parts) and not body.names[name].helper
    ] if pelvis else []
    if named:
        return named[-1]
    return _upward(body, pelvis)


def _by_neck(body: Body, chest: str) -> str:
    """The last of the bones that go on as spine and end at one that is called neck."""
    while chest:
        further = [
            name for name in body.skeleton.children(chest)
            if name in body.trunk and not body.names[name].helper
            and {"spine", "chest"} & set(body.names[name].parts)
        ]
        way = further[:1]
        while way:
            below = [n for n in body.skeleton.children(way[-1]) if n in body.trunk]
            if any("neck" in body.names[name].parts for name in below):
                return way[-1]
            way = [n for n in below if {"spine", "chest"} & set(body.names[n].parts)][:1]
        return chest
    return chest


def _below_neck(body: Body, chest: str) -> str:
    """The spine that a neck with the shoulders on it hangs from, as 3ds Max's Biped has it."""
    parent = body.skeleton.parent(chest) if chest else ""
    if not parent or body.names[chest].parts.get("neck", 0.0) < 0.9:
        return chest
    return parent if {"spine", "chest"} & set(body.names[parent].parts) else chest


def _named_pelvis(body: Body, pelvis: str) -> str:
    """The bone above a spine with the legs on it, where that is called pelvis: Biped again."""
    parent = body.skeleton.parent(pelvis) if pelvis else ""
    if not parent or parent not in body.trunk:
        return pelvis
    here, above = body.names[pelvis].parts, body.names[parent].parts
    near = float(np.linalg.norm(body.head(parent) - body.head(pelvis)))
    if near > 0.15 * body.skeleton.size or "pelvis" in here or "spine" not in here:
        return pelvis
    return parent if above.get("pelvis", 0.0) >= 0.8 else pelvis


def _rearmost(body: Body, pelvis: str) -> str:
    """The bone above the one that carries the legs, where it is called spine like that one."""
    parent = body.skeleton.parent(pelvis) if pelvis else ""
    if not parent:
        return pelvis
    spines = [
        name for name in (parent, pelvis) if body.names[name].parts.get("spine", 0.0) >= 0.9
    ]
    near = float(np.linalg.norm(body.head(parent) - body.head(pelvis)))
    return pelvis if len(spines) < 2 or near > 0.15 * body.skeleton.size else parent


def _upward(body: Body, pelvis: str) -> str:
    """Half-way along the longest chain that rises from the pelvis, or ""."""
    chains = _trunk_chains(body, pelvis)
    if not chains:
        return ""
    level = _level(body, pelvis)
    for before, bone, after in zip(level, level[1:], level[2:], strict=False):
        if abs(_rise(body, before, bone)) < LEVEL and _rise(body, bone, after) > NECK:
            return bone  # the neck rises from here
    best = max(chains, key=lambda chain: (body.height(chain[-1]), len(chain)))
    return best[(len(best) - 1) // 2] if len(best) > 1 else ""


def _trunk_chains(body: Body, top: str) -> list[list[str]]:
    """Longest chains of trunk bones below each child of a bone of the trunk."""
    found = []
    for child in body.skeleton.children(top):
        if child in body.trunk:
            found.append(_longest(body, child))
    return found


def _longest(body: Body, top: str) -> list[str]:
    """The chain of trunk bones below `top` that goes farthest, ends and helpers last."""
    ways: list[list[str]] = []

    def walk(name: str, way: list[str]) -> None:
        inside = [
            c for c in body.skeleton.children(name)
            if c in members and body.names[c].helper not in ("control", "soft")
            and (body.names[c].helper != "twist" or body.names[c].parts)
        ]
        if not inside:
            ways.append([*way, name])
        for child in inside:
            walk(child, [*way, name])

    members = set(body.trunk)
    walk(top, [])

    def worth(way: list[str]) -> tuple[int, float]:
        named = sum(
            1 for name in way
            if {"spine", "chest", "neck", "head", "tail"} & set(body.names[name].parts)
        )
        length = sum(
            float(np.linalg.norm(body.head(b) - body.head(a)))
            for a, b in zip(way, way[1:], strict=False)
        )
        return named, length

    return max(ways, key=worth)


def _trunk(body: Body, pelvis: str, chest: str) -> tuple[str, str, list[str]]:
    """Root, pelvis and the bones between pelvis and chest."""
    skeleton = body.skeleton
    if not pelvis:
        return "", "", []
    root = ([pelvis, *skeleton.ancestors(pelvis)])[-1]
    if not chest or chest == pelvis:
        return root, pelvis, []
    if pelvis in skeleton.ancestors(chest):
        way = skeleton.chain(pelvis, chest)[1:-1]
        return root, pelvis, way
    if chest in skeleton.ancestors(pelvis):
        # The rig hangs from its shoulders: the spine runs the other way.
        way = skeleton.chain(chest, pelvis)[1:-1][::-1]
        root = ([chest, *skeleton.ancestors(chest)])[-1]
        return root if root != chest else "", pelvis, way
    above = [pelvis, *skeleton.ancestors(pelvis)]
    common = next((a for a in [chest, *skeleton.ancestors(chest)] if a in above), "")
    if common:
        way = skeleton.chain(common, chest)[1:-1]
        near = np.linalg.norm(body.head(common) - body.head(pelvis)) < 0.12 * skeleton.size
        # Unless it is the middle of a body that lies level.
        near &= body.ahead(common) <= body.ahead(pelvis) + 0.05 * skeleton.size
        rootlike = body.names[common].parts.get("root", 0.0) > 0.5
        named = body.names[pelvis].parts.get("pelvis", 0.0) >= 0.8
        if near and not rootlike and not (named and common == root):
            # Moves legs and back together: what carries the whole figure.
            return root, common, way
        return root, pelvis, way
    way = [a for a in reversed(skeleton.ancestors(chest)) if a in body.trunk]
    return root, pelvis, way


def _neck_and_head(body: Body, found: Found, chest: str, pelvis: str) -> None:
    if not chest:
        return
    below = set(found.roles.values())
    best: tuple[tuple[int, float], list[str]] | None = None
    for child in body.skeleton.children(chest):
        if child not in body.trunk or child in below:
            continue
        if chest == pelvis and body.ahead(child) < body.ahead(pelvis) - 0.1 * body.skeleton.size:
            continue  # a tail
        chain = _longest(body, child)
        named = sum(
            1 for name in chain if {"neck", "head"} & set(body.names[name].parts)
        )
        if any(body.names[name].helper in ("soft", "control") for name in chain[:1]):
            continue
        reach = max(
            body.height(name) + 0.5 * body.ahead(name) for name in chain
        )
        key = (named, reach)
        if best is None or key > best[0]:
            best = (key, chain)
    if best is None:
        return
    chain = best[1]
    index, sure = _head_index(body, chain, found.body == "BIPED")
    numbered = 0
    for name in chain[:index]:
        numbered += 1
        parts = set(body.names[name].parts)
        spine = {"spine", "chest"} & parts and "neck" not in parts
        found.give(f"neck.{numbered}", name, sure and not spine)
    found.give("head", chain[index], sure)


def _withers(body: Body, found: Found, legs: list[Pair]) -> None:
    """Where a spine goes on over the forelegs, shape does not tell it from a neck."""
    neck = found.roles.get("neck.1", "")
    if found.body != "QUADRUPED" or not neck or "neck" in body.names[neck].parts:
        return
    if body.ahead(neck) < _place(body, legs[0]) - 1e-3 * body.skeleton.size:
        found.unsure |= {role for role in found.roles if role.startswith(("chest", "neck."))}


def _head_index(body: Body, chain: list[str], biped: bool) -> tuple[int, bool]:
    """Which bone of the chain above the chest is the head, and whether that is sure."""
    for i, name in enumerate(chain):
        info = body.names[name]
        if info.parts.get("head", 0.0) > 0.5 and info.helper != "end":
            return i, True
    last = len(chain) - 1
    while last > 0 and body.names[chain[last]].helper == "end":
        last -= 1
    named = any(body.names[name].parts for name in chain)
    skin = body.skeleton.skin
    skinned = len(skin) > 0
    while skinned and last > 0 and skin.get(chain[last], 0.0) <= 0.0 and any(
        skin.get(name, 0.0) > 0.0 for name in chain[:last]
    ):
        last -= 1
    if skinned and not named:
        # A head carries more skin than a neck.
        heaviest = max(range(last + 1), key=lambda i: skin.get(chain[i], 0.0))
        if heaviest >= last - 1 and heaviest > 0:
            return heaviest, True
        return last, True
    if named and last >= 0 and body.names[chain[last]].parts.get("neck", 0.0) > 0.0:
        return last, last > 0
    for i, name in enumerate(chain[: last + 1]):
        if i < last and {"spine", "neck"} & set(body.names[chain[i + 1]].parts):
            continue
        if len(body.skeleton.children(name)) >= 3:
            # A bone of the face that begins where the head does is not the head.
            same = i and np.linalg.norm(body.head(name) - body.head(chain[i - 1]))
            return i - bool(i and same < 0.005 * body.skeleton.size), True
    if last >= 2:
        before = np.linalg.norm(body.head(chain[last - 1]) - body.head(chain[last - 2]))
        ending = np.linalg.norm(body.head(chain[last]) - body.head(chain[last - 1]))
        if before < 0.005 * body.skeleton.size or ending < 0.005 * body.skeleton.size:
            return last - (ending < before), False
        if biped and ending > 1.3 * before and last == 2:
            return last - 1, False
    return last, last < 2 and last > 0 or named


def _legs(body: Body, found: Found, legs: list[Pair]) -> None:
    if found.body == "BIPED":
        for pair in legs:
            for side, limb in zip("LR", pair, strict=True):
                if limb is None:
                    continue
                result = joints.leg(body, limb)
                for role, bone in result.bones.items():
                    found.give(f"{role}.{side}", bone, result.sure)
        return
    names = ["fore", "hind"] if found.body == "QUADRUPED" else [
        f"leg{i}" for i in range(1, len(legs) + 1)
    ]
    for girdle, pair in zip(names, legs, strict=True):
        for side, limb in zip("LR", pair, strict=True):
            if limb is None:
                continue
            chain = joints.paw(body, limb)
            hub = _hub(body, chain)
            if hub:
                if girdle == names[0]:
                    found.give(f"clavicle.{side}", hub)
                chain = chain[1:]
            for number, bone in enumerate(chain, 1):
                found.give(f"{girdle}.{number}.{side}", bone)


def _hub(body: Body, chain: list[str]) -> str:
    """A shoulder blade before the leg itself, where the names say so, or ""."""
    if len(chain) < 3:
        return ""
    first, second = (body.names[name].parts for name in chain[:2])
    blade = first.get("clavicle", 0.0) >= 0.5 and not body.names[chain[0]].girdle
    if blade and max(second.get("upper_arm", 0.0), second.get("thigh", 0.0)) >= 0.5:
        return chain[0]
    return chain[0] if "hub" in first else ""


def _tail(body: Body, found: Found, pelvis: str, root: str, robed: bool) -> None:
    """Roles of a tail; of one who is robed it has to be called so."""
    if not pelvis:
        return
    used = set(found.roles.values())
    best: tuple[tuple[int, float], list[str]] | None = None
    starts = [pelvis, *found.roles.values()]
    for top in dict.fromkeys(starts):
        if top not in body.trunk:
            continue
        for child in body.skeleton.children(top):
            if child not in body.trunk or child in used:
                continue
            if any(below in used for below in body.skeleton.descendants(child)):
                continue
            chain = _longest(body, child)
            named = sum(1 for name in chain if "tail" in body.names[name].parts)
            other = any(
                (body.names[name].parts or body.names[name].helper)
                and not {"tail", "spine"} & set(body.names[name].parts)
                for name in chain
            )
            if other and not named:
                continue
            back = body.ahead(top) - min(body.ahead(name) for name in chain)
            reach = sum(
                float(np.linalg.norm(body.head(b) - body.head(a)))
                for a, b in zip([top, *chain], chain, strict=False)
            )
            size = body.skeleton.size
            if not named and (
                robed or len(chain) < 2 or back < 0.03 * size or reach < 0.1 * size or top != pelvis
            ):
                continue
            key = (named, back)
            if best is None or key > best[0]:
                best = (key, chain)
    if best is not None:
        chain = best[1]
    else:
        # A spine that begins at the tip of the tail.
        above = [name for name in body.skeleton.ancestors(pelvis)
                 if name != root and name in body.trunk]
        behind = [name for name in above if {"spine", "tail"} & set(body.names[name].parts)
                  and body.ahead(name) < body.ahead(pelvis)]
        chain = above if behind == above else []
    for number, name in enumerate(chain, 1):
        found.give(f"tail.{number}", name)


def middle_legs(body: Body, found: Found) -> list[str]:
    """First bones of legs in the middle of the body, which belong to no pair.

    Args:
        body: the body.
        found: the roles that were found.
    """
    taken = set(found.roles.values())
    pelvis = found.roles.get("pelvis", "")
    if not pelvis:
        return []
    high = body.height(pelvis)
    ground = min((tip_height(body, limb) for limb in standing(body)), default=-np.inf)
    first = []
    for top in body.trunk:
        if top in taken or body.skeleton.parent(top) not in taken:
            continue
        chain = _longest(body, top)
        said = set[str]().union(*(body.names[name].parts for name in chain))
        soft = any(body.names[name].helper for name in chain)
        low = min(body.height(name) for name in chain)
        deep = high - low > 0.7 * (high - ground) and len(chain) > 1
        if not soft and "tail" not in said and ({"thigh", "shin", "foot", "leg"} & said or deep):
            first.append(top)
    return first


def single_legs(body: Body, found: Found) -> list[str]:
    """First bones of legs at the sides of the body whose partner is missing, and that have no role.

    Args:
        body: the body.
        found: the roles that were found.
    """
    taken = set(found.roles.values())
    down = {limb.root for limb in standing(body)}
    alone = [
        pair for pair in pairs(body.limbs, body)
        if None in pair and any(limb is not None and limb.root in down for limb in pair)
    ]
    return [
        limb.root for pair in alone if _is_leg(body, pair, alone)
        for limb in pair if limb is not None and not taken & set(limb.path)
    ]


def _eyes(body: Body, found: Found) -> None:
    head = found.roles.get("head", "")
    if not head:
        return
    below = set(body.skeleton.descendants(head))
    for limb in body.limbs:
        for name in [limb.root, *body.skeleton.descendants(limb.root)]:
            info = body.names[name]
            if name in below and info.parts.get("eye", 0.0) >= 0.9 and not info.helper:
                found.give(f"eye.{limb.side}", name)
                break
