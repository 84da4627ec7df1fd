# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton taken apart into trunk and limbs, in the directions of its body.

The plane of symmetry comes from bones that are named as each other's mirror
images, or from how well the rest pose falls onto itself when it is reflected.
Up is where the legs hang from and the trunk rises to; forward is where toes
point, heads look and the front of a quadruped is. All lengths are relative to
the size of the skeleton.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .names import BoneName, parse
from .skeleton import Skeleton

LATERAL = 0.02  # of the size: closer to the plane is in it
MATCHED = 0.03  # of the size: how far a reflected joint may be from its partner
AXIS = np.cos(np.radians(15.0))  # a direction closer to an axis is that axis
LIMB = 0.12  # of the size: what is shorter is no arm or leg
GROUNDED = 0.3  # of the height of its root: a limb whose tip is lower stands on the ground
FLAT = 1.0  # how far a bone goes along the ground against down, at least, to lie
FOOT = 0.05  # share of a leg's length that its foot has at least
STRAIGHT = 0.9  # share of its length that what hangs goes down, at least: a gown flares


@dataclass(frozen=True, eq=False)
class Limb:
    """What hangs from the trunk on one side.

    Attributes:
        root: its first bone.
        side: "L" or "R"; until forward is known, the positive side counts as "L".
        attach: the bone of the trunk that it hangs from, or "".
        path: its bones from the root to the tip.
        length: sum of the distances between their heads.
    """

    root: str
    side: str
    attach: str
    path: tuple[str, ...]
    length: float


@dataclass(frozen=True, eq=False)
class Body:
    """A skeleton with directions, trunk and limbs.

    Attributes:
        skeleton: the bones that count, hung as they move.
        names: bone -> what its name says; says nothing where names are not used.
        left: (3,) unit vector to the character's left.
        up: (3,) unit vector.
        offset: where the plane of symmetry is along `left`.
        trunk: bones of the trunk, tail and head.
        limbs: the limbs.
        doubts: what was not clear: "side", "up", "forward", "swapped".
        pointing: bones end where the next ones begin, so that the last of a limb tells
            where the limb ends.
    """

    skeleton: Skeleton
    names: dict[str, BoneName]
    left: np.ndarray
    up: np.ndarray
    offset: float
    trunk: tuple[str, ...] = ()
    limbs: tuple[Limb, ...] = ()
    doubts: frozenset[str] = field(default_factory=frozenset)
    pointing: bool = False

    @property
    def forward(self) -> np.ndarray:
        """(3,) unit vector: left x up."""
        return np.cross(self.left, self.up)

    @property
    def turn(self) -> np.ndarray:
        """(3, 3) matrix from armature space to character space (facing -Y, Z up)."""
        return np.stack((self.left, -self.forward, self.up))

    def head(self, bone: str) -> np.ndarray:
        """(3,) head of a bone.

        Args:
            bone: its name.
        """
        return self.skeleton.by_name[bone].head

    def height(self, bone: str) -> float:
        """Height of a bone's head along `up`.

        Args:
            bone: its name.
        """
        return float(self.head(bone) @ self.up)

    def ahead(self, bone: str) -> float:
        """Place of a bone's head along `forward`.

        Args:
            bone: its name.
        """
        return float(self.head(bone) @ self.forward)

    def aside(self, bone: str) -> float:
        """Distance of a bone's head from the plane of symmetry, positive to the left.

        Args:
            bone: its name.
        """
        return float(self.head(bone) @ self.left) - self.offset


def tails_point(skeleton: Skeleton) -> bool:
    """Whether bones end where their children begin, as imported ones often do not.

    Args:
        skeleton: the skeleton.
    """
    good = count = 0
    for bone in skeleton.bones:
        children = skeleton.children(bone.name)
        if len(children) != 1:
            continue
        gap = float(np.linalg.norm(skeleton.head(children[0]) - bone.head))
        if gap > 1e-3 * skeleton.size:
            count += 1
            away = float(np.linalg.norm(skeleton.head(children[0]) - bone.tail))
            good += away < 0.1 * gap
    return count > 0 and good > 0.6 * count


def read_body(skeleton: Skeleton, use_names: bool = True) -> Body:
    """Trunk, limbs and directions of a skeleton.

    Args:
        skeleton: the bones that count.
        use_names: whether names may be read.
    """
    names = {bone.name: BoneName(bone.name) for bone in skeleton.bones}
    if use_names:
        for name in names:
            info = parse(name)
            if info.helper == "control" and skeleton.skin.get(name, 0.0) > 0.0:
                info = replace(info, helper="")  # it moves skin, whatever else it does
            names[name] = info
    left, offset, sure = _plane(skeleton, names)
    doubts = set() if sure else {"side"}
    skeleton = joined_feet(skeleton, names, left, offset)
    skeleton = joined_limbs(skeleton, names, left, offset)
    body = Body(skeleton, names, left, np.zeros(3), offset, pointing=tails_point(skeleton))
    body = _limbs(body, {})
    up, sure = _up(body)
    body = replace(body, up=up)
    if not sure:
        doubts.add("up")
    named = any(info.side for info in names.values())
    facing = _facing(body)
    swapped = named and facing < -1.2
    if named and swapped:
        doubts.add("swapped")
    if not named and abs(facing) < 0.15:
        doubts.add("forward")
        facing = _usual(body)
    if swapped or (not named and facing < 0.0):
        body = replace(body, left=-left, offset=-offset)
        body = _limbs(body, {} if not swapped else {"L": "R", "R": "L"})
    return replace(body, doubts=frozenset(doubts))


# The plane of symmetry.


def mirrored(skeleton: Skeleton, names: dict[str, BoneName]) -> list[tuple[str, str]]:
    """Pairs (left, right) of bones that are named as each other's mirror images.

    Args:
        skeleton: the skeleton.
        names: bone -> what its name says.
    """
    right = {
        (names[bone.name].mirror, names[bone.name].tag): bone.name
        for bone in skeleton.bones
        if names[bone.name].side == "R"
    }
    found = []
    for bone in skeleton.bones:
        info = names[bone.name]
        if info.side == "L" and (info.mirror, info.tag) in right:
            found.append((bone.name, right[info.mirror, info.tag]))
    if found:
        return found
    # Numbers that differ between the sides ("b_LeftHand_011", "b_RightHand_08").
    plain: dict[tuple[str, str], list[str]] = {}
    for bone in skeleton.bones:
        info = names[bone.name]
        if info.side:
            key = "".join(c for c in info.mirror if not c.isdigit())
            plain.setdefault((key, info.side), []).append(bone.name)
    for (key, side), bones in plain.items():
        others = plain.get((key, "R"), [])
        if side == "L" and len(others) == len(bones):
            found += list(zip(bones, others, strict=True))
    return found


def _roots_of(skeleton: Skeleton, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of mirrored pairs those nearest to the trunk that lie apart: limbs may be posed."""
    tolerance = LATERAL * skeleton.size
    found: list[tuple[str, str]] = []
    done: set[str] = set()
    for left, right in pairs:
        above = skeleton.ancestors(left)
        if any(name in done for name in above):
            continue
        if np.linalg.norm(skeleton.head(left) - skeleton.head(right)) > tolerance:
            found.append((left, right))
            done.add(left)
    return found or pairs


def _snapped(direction: np.ndarray) -> np.ndarray:
    """A direction near an axis of the armature as that axis."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.array([1.0, 0.0, 0.0])
    direction = direction / length
    largest = int(np.argmax(np.abs(direction)))
    if abs(direction[largest]) < AXIS:
        return direction
    axis = np.zeros(3)
    axis[largest] = np.sign(direction[largest])
    return axis


def _plane(skeleton: Skeleton, names: dict[str, BoneName]) -> tuple[np.ndarray, float, bool]:
    """Normal to the left, offset, and whether it is sure."""
    x = np.array([1.0, 0.0, 0.0])
    if not len(skeleton) or skeleton.size == 0.0:
        return x, 0.0, False
    pairs = _roots_of(skeleton, mirrored(skeleton, names))
    if pairs:
        apart = np.array([skeleton.head(a) - skeleton.head(b) for a, b in pairs])
        if np.linalg.norm(apart.sum(axis=0)) > LATERAL * skeleton.size:
            normal = _snapped(apart.sum(axis=0))
            middle = [(skeleton.head(a) + skeleton.head(b)) @ normal / 2.0 for a, b in pairs]
            return normal, float(np.median(middle)), True
    sided = {side: [b.name for b in skeleton.bones if names[b.name].side == side] for side in "LR"}
    one = "L" if len(sided["L"]) >= len(sided["R"]) else "R"
    found = _reflection(skeleton)
    if sided[one]:
        rest = [bone.name for bone in skeleton.bones if not names[bone.name].side]
        if not rest:
            rest = sided["R" if one == "L" else "L"]
        if rest:
            middle = np.median([skeleton.head(bone) for bone in rest], axis=0)
            towards = np.mean([skeleton.head(bone) for bone in sided[one]], axis=0) - middle
            towards = towards if one == "L" else -towards
            if found is not None and abs(towards @ found[0]) > 1e-3 * skeleton.size:
                return found[0] * np.sign(towards @ found[0]), found[1] * float(
                    np.sign(towards @ found[0])
                ), True
            # All of one side: the axis on which the trunk does not reach.
            spread = np.abs([skeleton.head(bone) - middle for bone in rest]).max(axis=0)
            axis = int(np.argmax(np.abs(towards) - spread))
            normal = np.zeros(3)
            normal[axis] = np.sign(towards[axis]) or 1.0
            return normal, float(middle @ normal), False
    if found is not None:
        return found[0], found[1], True
    return x, float(np.median(skeleton.heads[:, 0])), False


def _reflection(skeleton: Skeleton) -> tuple[np.ndarray, float] | None:
    """The plane in which the rest pose is mirrored best, or None."""
    points = np.unique(np.round(skeleton.heads / skeleton.size, 4), axis=0)
    if len(points) > 400:
        points = points[:: len(points) // 400 + 1]
    candidates = [np.eye(3)[axis] for axis in range(3)]
    candidates += _sibling_normals(skeleton)
    best = None
    for rank, normal in enumerate(candidates):
        along = points @ normal
        offsets = {0.0, float(np.median(along)), float((along.min() + along.max()) / 2.0)}
        offsets |= {float(skeleton.head(name) @ normal) / skeleton.size
                    for name in skeleton.children("")}
        tops = [float(skeleton.head(name) @ normal) / skeleton.size
                for name in skeleton.children("")]
        for offset in sorted(offsets):
            if min(abs(top - offset) for top in tops) > 2.0 * LATERAL:
                continue  # a figure is mirrored in what it hangs from
            away = along - offset
            off = np.abs(away) > LATERAL
            if not off.any():
                continue
            images = points[off] - 2.0 * away[off, None] * normal
            gaps = np.linalg.norm(images[:, None] - points[None], axis=2).min(axis=1)
            score = float((gaps < MATCHED).sum() - 2 * (gaps >= MATCHED).sum()) - 0.01 * rank
            if score > 0.0 and (best is None or score > best[0] + 1e-9):
                best = (score, normal, offset * skeleton.size)
    if best is None:
        # Posed so that no plane fits: what hangs from one bone twice is a pair.
        normals = _sibling_normals(skeleton)
        if normals:
            together = sum(n * np.sign(n @ normals[0]) for n in normals)
            normal = _snapped(together)
            root = skeleton.children("")[0]
            return normal, float(skeleton.head(root) @ normal)
        return None
    return best[1], best[2]


def _sibling_normals(skeleton: Skeleton) -> list[np.ndarray]:
    """Directions between the beginnings of subtrees that are alike."""
    below: dict[str, tuple[int, float]] = {}
    for bone in reversed(skeleton.bones):
        count, length = 1, 0.0
        for child in skeleton.children(bone.name):
            count += below[child][0]
            length += below[child][1]
            length += float(np.linalg.norm(skeleton.head(child) - bone.head))
        below[bone.name] = (count, length)
    found: list[tuple[float, np.ndarray]] = []
    for parent in ["", *(bone.name for bone in skeleton.bones)]:
        children = [c for c in skeleton.children(parent) if below[c][0] >= 2]
        for i, first in enumerate(children):
            for second in children[i + 1 :]:
                (n1, l1), (n2, l2) = below[first], below[second]
                if n1 != n2 or abs(l1 - l2) > 0.06 * max(l1, l2, 1e-30):
                    continue
                if max(l1, l2) < LIMB * skeleton.size:
                    continue
                apart = skeleton.head(first) - skeleton.head(second)
                a, b = first, second
                while np.linalg.norm(apart) < LATERAL * skeleton.size and (
                    skeleton.children(a) and skeleton.children(b)
                ):
                    a, b = skeleton.children(a)[0], skeleton.children(b)[0]
                    apart = skeleton.head(a) - skeleton.head(b)
                if np.linalg.norm(apart) > LATERAL * skeleton.size:
                    found.append((max(l1, l2), _snapped(apart)))
    found.sort(key=lambda item: -item[0])
    return [normal for _, normal in found[:24]]


# Feet that hang under bones of their own.


def joined_feet(
    skeleton: Skeleton, names: dict[str, BoneName], left: np.ndarray, offset: float
) -> Skeleton:
    """The skeleton with feet under free IK bones hung under the shins they continue.

    A small tree that hangs from nothing (or from the root) and begins beside the
    end of a limb, on its side, is the rest of that limb. A bone at a joint that
    the limb already has, one that only controls, and one far away are not.

    Args:
        skeleton: the skeleton.
        names: bone -> what its name says.
        left: (3,) normal of the plane of symmetry.
        offset: where that plane is.
    """
    size = skeleton.size
    roots = skeleton.children("")
    if size == 0.0 or not roots:
        return skeleton
    weight = {root: len(skeleton.descendants(root)) + 1 for root in roots}
    trunk = max(roots, key=lambda root: weight[root])
    main = [trunk, *skeleton.descendants(trunk)]
    tails = tails_point(skeleton)
    free = [root for root in roots if root != trunk]
    free += [
        child
        for child in skeleton.children(trunk)
        if len(skeleton.descendants(child)) < 4 and not _stays(skeleton, trunk, child)
    ]
    apart = {below for root in free for below in (root, *skeleton.descendants(root))}
    inside = [name for name in main if name not in apart]
    leaves = [
        name
        for name in inside
        if not [child for child in skeleton.children(name) if child not in free]
        and abs(skeleton.head(name) @ left - offset) > LATERAL * size
        and names[name].helper not in ("finger", "soft", "twist")
        and not {"hand", "eye", "head"} & set(names[name].parts)
    ]
    at = np.array([skeleton.head(name) for name in inside]).reshape(-1, 3)
    targeted = {target for bone in skeleton.bones for target in bone.targets}
    found: list[tuple[float, str, str]] = []
    for root in free:
        skinned = not skeleton.skin or any(
            skeleton.skin.get(name, 0.0) > 0.0 for name in (root, *skeleton.descendants(root))
        )
        only_control = names[root].helper == "control" and not skeleton.children(root)
        if not skinned or (only_control and root not in skeleton.skin):
            continue
        if "pole" in root.lower() or (root in targeted and not skeleton.children(root)):
            continue
        head = skeleton.head(root)
        if np.linalg.norm(at - head, axis=1).min() < 0.004 * size:
            continue
        side = head @ left - offset
        for leaf in leaves:
            if (skeleton.head(leaf) @ left - offset) * side <= 0.0:
                continue
            end = skeleton.by_name[leaf].tail if tails else skeleton.head(leaf)
            gap = float(np.linalg.norm(head - end))
            chain = _limb_length(skeleton, leaf, left, offset)
            reach = 0.15 * chain if tails else max(chain, 0.2 * size * bool(skeleton.skin))
            start = _limb_start(skeleton, leaf, left, offset)
            way, further = skeleton.head(leaf) - start, head - start
            ahead = float(way @ further) / max(
                float(np.linalg.norm(way) * np.linalg.norm(further)), 1e-30
            )
            if ahead < 0.85 or np.linalg.norm(further) < np.linalg.norm(way):
                continue
            if gap > reach or abs(side - (skeleton.head(leaf) @ left - offset)) > 0.1 * size:
                continue
            found.append((gap, leaf, root))
    parents = {bone.name: bone.parent for bone in skeleton.bones}
    taken: set[str] = set()
    for _, leaf, root in sorted(found):
        if leaf in taken or root in taken:
            continue
        taken |= {leaf, root}
        parents[root] = leaf
    return skeleton.hung(parents) if taken else skeleton


def trunk_root(skeleton: Skeleton, left: np.ndarray, offset: float) -> str:
    """The bone without a parent whose tree has most bones in the plane of symmetry, or "".

    Args:
        skeleton: the skeleton.
        left: (3,) normal of the plane.
        offset: where it is.
    """
    tolerance = LATERAL * skeleton.size

    def weight(root: str) -> tuple[int, int]:
        tree = [root, *skeleton.descendants(root)]
        inside = sum(abs(skeleton.head(name) @ left - offset) <= tolerance for name in tree)
        return inside, len(tree)

    return max(skeleton.children(""), key=weight, default="")


def joined_limbs(
    skeleton: Skeleton, names: dict[str, BoneName], left: np.ndarray, offset: float
) -> Skeleton:
    """The skeleton with limbs that hang from nothing hung where they begin.

    Rigs lose parents when only their deforming bones are exported. Such a tree
    hangs from the bone that ends where it begins, else from the nearest bone of the
    trunk, if that is near.

    Args:
        skeleton: the skeleton.
        names: bone -> what its name says.
        left: (3,) normal of the plane of symmetry.
        offset: where that plane is.
    """
    main = trunk_root(skeleton, left, offset)
    loose = [root for root in skeleton.children("") if root != main]
    if not loose or skeleton.size == 0.0:
        return skeleton
    parents = {bone.name: bone.parent for bone in skeleton.bones}
    tree = {root: {root, *skeleton.descendants(root)} for root in skeleton.children("")}
    tails = tails_point(skeleton)
    hung = set()
    for root in loose:
        gaps = [
            (float(np.linalg.norm(bone.tail - skeleton.head(root))), bone.name)
            for bone in skeleton.bones
            if bone.name not in tree[root]
        ]
        if tails and gaps and min(gaps)[0] < 0.01 * skeleton.size:
            above = min(gaps)[1]
            if above not in hung:  # no two trees hang from each other
                parents[root] = above
                hung |= tree[root]
    inside = [
        name for name in (main, *skeleton.descendants(main))
        if abs(skeleton.head(name) @ left - offset) <= LATERAL * skeleton.size
    ]
    onward = [skeleton.head(child) for child in skeleton.children(main) if child in inside]
    steps = [float(np.linalg.norm(head - skeleton.head(main))) for head in onward]
    if names[main].parts.get("root", 0.0) > 0.5 or (steps and min(steps) > 0.2 * skeleton.size):
        inside = [name for name in inside if name != main]  # a root on the ground
    held = {parents[root] for root in loose}
    for root in loose:
        if parents[root] or names[root].helper == "control":
            continue
        if len(tree[root]) < 2 and root not in held:
            continue
        gap, above = min(
            ((_gap(skeleton, name, skeleton.head(root)), name) for name in inside),
            default=(np.inf, ""),
        )
        if gap < 0.25 * skeleton.size:
            parents[root] = above
    return skeleton.hung(parents)


def _gap(skeleton: Skeleton, name: str, point: np.ndarray) -> float:
    """Distance of a point from a bone: from its head to where its children begin."""
    head = skeleton.head(name)
    ends = [skeleton.head(child) for child in skeleton.children(name)]
    gaps = [float(np.linalg.norm(point - head))]
    for end in ends:
        line = end - head
        share = float(np.clip((point - head) @ line / max(float(line @ line), 1e-30), 0.0, 1.0))
        gaps.append(float(np.linalg.norm(point - head - share * line)))
    return min(gaps)


def _stays(skeleton: Skeleton, trunk: str, child: str) -> bool:
    """Whether a child of the root is the way into the body: it carries most of it."""
    return len(skeleton.descendants(child)) * 3 > len(skeleton.descendants(trunk))


def _limb_length(skeleton: Skeleton, leaf: str, left: np.ndarray, offset: float) -> float:
    """Length of the chain off the plane that ends at a bone."""
    length, name = 0.0, leaf
    while skeleton.parent(name):
        parent = skeleton.parent(name)
        length += float(np.linalg.norm(skeleton.head(name) - skeleton.head(parent)))
        if abs(skeleton.head(parent) @ left - offset) <= LATERAL * skeleton.size:
            break
        name = parent
    return length


def _limb_start(
    skeleton: Skeleton, leaf: str, left: np.ndarray, offset: float
) -> np.ndarray:
    """Head of the first bone off the plane in the chain that ends at a bone."""
    name = leaf
    while skeleton.parent(name):
        parent = skeleton.parent(name)
        if abs(skeleton.head(parent) @ left - offset) <= LATERAL * skeleton.size:
            break
        name = parent
    return skeleton.head(name)


# Trunk and limbs.


def _sides(body: Body, swap: dict[str, str]) -> dict[str, str]:
    """Bone -> "L" or "R" where its tree lies on one side, "" for the trunk."""
    skeleton = body.skeleton
    tolerance = LATERAL * skeleton.size
    found: dict[str, str] = {}
    two: set[str] = set()  # trees that bear limbs on both sides, or are called trunk
    reach: dict[str, tuple[float, float, float, int]] = {}  # lowest, highest, sum, count
    for bone in reversed(skeleton.bones):
        children = skeleton.children(bone.name)
        at = body.aside(bone.name)
        parts = [(at, at, at, 1), *(reach[child] for child in children)]
        low, high = min(part[0] for part in parts), max(part[1] for part in parts)
        total, count = sum(part[2] for part in parts), sum(part[3] for part in parts)
        reach[bone.name] = (low, high, total, count)
        below = {found[child] for child in children}
        info = body.names[bone.name]
        if info.side:
            found[bone.name] = swap.get(info.side, info.side)
        elif _TRUNK_PARTS & set(info.parts):
            found[bone.name] = ""  # bent to one side in the rest pose it is still a trunk
            two.add(bone.name)
        elif two & set(children) or ({"L", "R"} <= below and abs(at) < 4.0 * tolerance):
            found[bone.name] = ""
            two.add(bone.name)
        elif low >= -tolerance and high <= tolerance:
            found[bone.name] = ""
        elif low >= -tolerance or high <= tolerance:
            found[bone.name] = "L" if high > tolerance else "R"
        else:
            # A chain across the plane, as of a crossed leg, belongs where it begins.
            begins = at if abs(at) > 1.2 * tolerance else total / count
            found[bone.name] = "L" if begins > 0.0 else "R"
    return found


def _limbs(body: Body, swap: dict[str, str]) -> Body:
    """The body with its trunk and limbs; `swap` exchanges the sides that names say."""
    skeleton = body.skeleton
    sides = _sides(body, swap)
    trunk: list[str] = []
    roots: list[str] = []
    stack = list(reversed(skeleton.children("")))
    while stack:
        name = stack.pop()
        if not sides[name]:
            trunk.append(name)
            stack.extend(reversed(skeleton.children(name)))
        elif _bent_trunk(body, name, sides):
            trunk += [name, *skeleton.descendants(name)]
        else:
            roots.append(name)
    limbs = [limb_from(body, root, root, sides[root]) for root in roots]
    return replace(body, trunk=tuple(trunk), limbs=tuple(limbs))


def limb_from(body: Body, first: str, along: str, side: str) -> Limb:
    """The limb that begins with a bone and goes on by another one below it.

    Args:
        body: the body.
        first: its first bone.
        along: a bone that it goes on by; the first one where it has no choice.
        side: "L" or "R".
    """
    before = body.skeleton.chain(first, along)[:-1]
    path = [*before, *_main_path(body, along if before else first)]
    length = sum(
        float(np.linalg.norm(body.head(b) - body.head(a)))
        for a, b in zip(path, path[1:], strict=False)
    )
    return Limb(first, side, body.skeleton.parent(first), tuple(path), length)


def _bent_trunk(body: Body, name: str, sides: dict[str, str]) -> bool:
    """Whether a one-sided tree begins in the plane, leaves it little and has no partner."""
    skeleton = body.skeleton
    if body.names[name].side or abs(body.aside(name)) > 2.0 * LATERAL * skeleton.size:
        return False
    below = [name, *skeleton.descendants(name)]
    for sibling in skeleton.children(skeleton.parent(name)):
        if sibling != name and {sides[sibling], sides[name]} == {"L", "R"}:
            alike = abs(body.aside(sibling) + body.aside(name)) < LATERAL * skeleton.size
            if alike and len(skeleton.descendants(sibling)) + 1 == len(below):
                return False
    reach = max(float(np.linalg.norm(body.head(b) - body.head(name))) for b in below)
    return max(abs(body.aside(b)) for b in below) < 0.6 * max(reach, 1e-30)


_TRUNK_PARTS = {"root", "pelvis", "spine", "chest", "neck", "head", "tail"}
_LIMB_PARTS = {"clavicle", "upper_arm", "forearm", "hand", "arm", "thigh", "shin", "foot", "toe",
               "leg"}


def _main_path(body: Body, root: str) -> list[str]:
    """From the root of a limb to its tip: by what names say, else the longest way."""
    skeleton = body.skeleton
    best: dict[str, tuple[int, float, list[str]]] = {}
    for name in reversed([root, *skeleton.descendants(root)]):
        info = body.names[name]
        says = int(bool(_LIMB_PARTS & set(info.parts)) and info.helper == "")
        if info.helper in ("control", "soft", "twist") and name != root:
            says -= 1
        choice: tuple[int, float, list[str]] = (says, 0.0, [name])
        for child in skeleton.children(name):
            count, length, path = best[child]
            length += float(np.linalg.norm(body.head(child) - body.head(name)))
            candidate = (says + count, length, [name, *path])
            if candidate[0] > choice[0] or (
                candidate[0] == choice[0] and length > choice[1] + 1e-9 * skeleton.size
            ) or len(choice[2]) == 1 and candidate[0] >= choice[0]:
                choice = candidate
        best[name] = choice
    return best[root][2]


def pairs(limbs: tuple[Limb, ...], body: Body) -> list[tuple[Limb | None, Limb | None]]:
    """Limbs (left, right) that belong together; one of them is None where it is missing.

    Args:
        limbs: some limbs of the body.
        body: the body.
    """
    left = [limb for limb in limbs if limb.side == "L"]
    right = [limb for limb in limbs if limb.side == "R"]
    costs = []
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            image = body.head(b.root) - 2.0 * body.aside(b.root) * body.left
            tip = body.head(b.path[-1]) - 2.0 * body.aside(b.path[-1]) * body.left
            cost = float(np.linalg.norm(body.head(a.root) - image))
            cost += 0.5 * float(np.linalg.norm(body.head(a.path[-1]) - tip))
            cost += abs(a.length - b.length)
            cost += 0.3 * body.skeleton.size * (a.attach != b.attach)
            named = body.names[a.root].mirror
            if named and body.names[a.root].side:
                cost -= 0.5 * body.skeleton.size * (named == body.names[b.root].mirror)
            costs.append((cost, i, j))
    used_left: set[int] = set()
    used_right: set[int] = set()
    matched: dict[int, int] = {}
    for cost, i, j in sorted(costs):
        if i in used_left or j in used_right or cost > 0.6 * body.skeleton.size:
            continue
        used_left.add(i)
        used_right.add(j)
        matched[i] = j
    found: list[tuple[Limb | None, Limb | None]] = [
        (limb, right[matched[i]] if i in matched else None) for i, limb in enumerate(left)
    ]
    return found + [(None, limb) for j, limb in enumerate(right) if j not in used_right]


def tip_height(body: Body, limb: Limb) -> float:
    """Height of the end of a limb: of its last joint, or of an ankle below raised toes.

    A leg without a foot ends with its last bone, as a spider's does, whose joints
    are all above its body.

    Args:
        body: the body.
        limb: the limb.
    """
    last = limb.path[-2:] if len(limb.path) >= 4 else limb.path[-1:]
    lowest = min(body.height(name) for name in last)
    if body.pointing and not body.skeleton.children(last[-1]):
        lowest = min(lowest, float(body.skeleton.by_name[last[-1]].tail @ body.up))
    return lowest


def standing(body: Body) -> list[Limb]:
    """Limbs that reach down to the ground.

    Args:
        body: the body; `up` is known.
    """
    size = body.skeleton.size
    long = [limb for limb in body.limbs if limb.length > LIMB * size and len(limb.path) >= 2]
    if not long:
        return []
    ground = min(tip_height(body, limb) for limb in long)
    found = []
    for limb in long:
        top = max(body.height(limb.path[0]), body.height(limb.path[1]))
        tip = tip_height(body, limb)
        if top - tip <= 0.2 * limb.length or tip - ground >= GROUNDED * (top - ground):
            continue
        # What carries a leg is above its foot; only a root may lie on the ground.
        carrying = [limb.attach, *body.skeleton.ancestors(limb.attach)] if limb.attach else []
        alone = bool(limb.attach) and not body.skeleton.parent(limb.attach)
        for number in range(0 if alone else 1, len(carrying)):
            before = carrying[number - 1] if number else limb.path[0]
            step = np.linalg.norm(body.head(carrying[number]) - body.head(before))
            root = body.names[carrying[number]].parts.get("root", 0.0) > 0.5
            if root or step > 0.5 * (top - tip):
                carrying = carrying[:number]
                break
        if all(body.height(name) > tip + 0.15 * (top - tip) for name in carrying):
            found.append(limb)
    return found


def cloth(body: Body, legs: list[tuple[Limb | None, Limb | None]]) -> set[str]:
    """First bones of those among pairs of limbs that are cloth: no name tells them from legs.

    A gown or a cape hangs straight down all around, and ends in the air; legs end in feet.

    Args:
        body: the body; `up` is known.
        legs: pairs that reach the ground.
    """
    footed = [pair for pair in legs if any(limb and _ends_in_a_foot(body, limb) for limb in pair)]
    bare = [pair for pair in legs if pair not in footed]
    if not footed or not all(_hangs(body, limb) for pair in bare for limb in pair if limb):
        return set()
    above = {limb.attach for pair in footed for limb in pair if limb}
    beside = any(limb.attach in above for pair in bare for limb in pair if limb)
    if not beside and len(bare) < 2:
        return set()
    return {limb.root for pair in bare for limb in pair if limb}


def _points(body: Body, limb: Limb, end: bool) -> np.ndarray:
    """(k, 3) joints of a limb, and where wanted its end, if its bones have one."""
    points = [body.head(name) for name in limb.path]
    if end and body.pointing:
        points.append(body.skeleton.by_name[limb.path[-1]].tail)
    return np.array(points, dtype=float)


def _ends_in_a_foot(body: Body, limb: Limb) -> bool:
    """Whether the last bones of a limb lie rather than stand."""
    for end, share in ((False, FOOT), (True, 2.0 * FOOT)):  # importers make up the last bone
        steps = np.diff(_points(body, limb, end), axis=0)
        down = np.abs(steps @ body.up)
        along = np.sqrt(np.maximum((steps**2).sum(axis=1) - down**2, 0.0))
        lies = along >= FLAT * down
        number = len(lies) - 1
        while number > 0 and lies[number]:
            number -= 1
        length = float(np.linalg.norm(steps, axis=1).sum())
        if float(along[number + 1 :].sum()) > share * length:
            return True
    return False


def _hangs(body: Body, limb: Limb) -> bool:
    """Whether a limb hangs straight down from where it begins, and no name says what it is."""
    if any(body.names[name].parts for name in limb.path):
        return False
    points = _points(body, limb, len(limb.path) < 3)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return abs(float((points[-1] - points[0]) @ body.up)) > STRAIGHT * length


# Directions.


def _up(body: Body) -> tuple[np.ndarray, bool]:
    """Unit vector upwards, and whether it is sure."""
    skeleton = body.skeleton
    candidates = [
        sign * axis for axis in np.eye(3) for sign in (1.0, -1.0) if abs(axis @ body.left) < 0.05
    ]
    if len(candidates) < 4:
        # Turned in its armature: across the one axis that is left, or wherever limbs point.
        across = [np.cross(body.left, candidates[0])] if candidates else []
        if not candidates:
            limbs = sum((body.head(limb.path[0]) - body.head(limb.path[-1])
                         for limb in body.limbs if limb.length > LIMB * skeleton.size),
                        np.zeros(3))
            for vector in (limbs, np.array([0.0, 0.0, 1.0]), skeleton.upright):
                if vector is not None:
                    vector = vector - (vector @ body.left) * body.left
                    if np.linalg.norm(vector) > 1e-9 * max(1.0, skeleton.size):
                        across.append(vector / np.linalg.norm(vector))
        candidates += [sign * vector for vector in across for sign in (1.0, -1.0)]
    scores = []
    for rank, candidate in enumerate(candidates):
        up = candidate / max(float(np.linalg.norm(candidate)), 1e-30)
        scores.append((_up_score(replace(body, up=up)), -rank, up))
    scores.sort(key=lambda item: (item[0], item[1]), reverse=True)
    sure = len(scores) < 2 or scores[0][0] - scores[1][0] > 0.12
    return scores[0][2], sure


def _up_score(body: Body) -> float:
    skeleton = body.skeleton
    size = max(skeleton.size, 1e-30)
    score = 0.0
    if body.up[2] > 0.9:
        score += 0.1
    elif body.up[1] > 0.9:
        score += 0.03
    if skeleton.upright is not None:
        score += 0.2 * max(0.0, float(skeleton.upright @ body.up))
    legs = standing(body)
    for pair in pairs(tuple(legs), body):
        for limb in pair:
            if limb is not None:
                drop = body.height(limb.path[0]) - tip_height(body, limb)
                score += 0.5 * drop / size
    if legs and body.trunk:
        from_ = max(body.height(limb.attach or limb.root) for limb in legs)
        top = max(body.height(name) for name in body.trunk)
        score += 0.5 * max(0.0, top - from_) / size
    high = [body.height(b) for b in skeleton.by_name
            if {"head", "neck", "chest"} & set(body.names[b].parts)]
    low = [body.height(b) for b in skeleton.by_name
           if {"foot", "toe"} & set(body.names[b].parts) and body.names[b].helper == ""]
    if high and low:
        score += 0.6 * float(np.clip((np.mean(high) - np.mean(low)) / size, -1.0, 1.0))
    return score


def _facing(body: Body) -> float:
    """How much speaks for left x up being forward, above 0, or backward, below."""
    score = 0.0
    skeleton = body.skeleton
    reaching = standing(body)
    hanging = cloth(body, pairs(tuple(reaching), body))
    legs = [limb for limb in reaching if limb.root not in hanging]
    tails = tails_point(skeleton)
    toes, knees = [], []
    for limb in legs:
        top = max(body.height(name) for name in limb.path[:2])
        low = min(body.height(name) for name in limb.path)
        near = [name for name in limb.path if body.height(name) - low < 0.22 * (top - low)]
        if not near:
            continue
        tip = body.head(limb.path[-1])
        if tails and len(near) <= 2:
            tip = skeleton.by_name[limb.path[-1]].tail
        toes.append(float((tip - body.head(near[0])) @ body.forward) / max(limb.length, 1e-30))
        line = body.head(near[0]) - body.head(limb.path[0])
        for name in limb.path[1 : limb.path.index(near[0])]:
            away = body.head(name) - body.head(limb.path[0])
            away = away - line * (away @ line) / max(float(line @ line), 1e-30)
            knees.append(float(away @ body.forward) / max(limb.length, 1e-30))
    if toes:
        score += float(np.clip(np.mean(toes) / 0.08, -1.0, 1.0))
    girdles = _girdles_by_depth(body, legs)
    if girdles is not None:
        return score + 2.0 * girdles
    if knees:
        score += 0.5 * float(np.clip(np.mean(knees) / 0.04, -1.0, 1.0))
    head = _named(body, "head")
    eyes = [b for b in skeleton.by_name if "eye" in body.names[b].parts]
    if head and eyes:
        gap = np.mean([body.head(eye) for eye in eyes], axis=0) - body.head(head)
        score += float(np.clip(gap @ body.forward / (0.02 * skeleton.size), -1.0, 1.0))
    elbows = []
    for limb in body.limbs:
        if limb in reaching or limb.length < LIMB * skeleton.size or len(limb.path) < 3:
            continue
        line = body.head(limb.path[-1]) - body.head(limb.path[0])
        for name in limb.path[1:-1]:
            away = body.head(name) - body.head(limb.path[0])
            away = away - line * (away @ line) / max(float(line @ line), 1e-30)
            elbows.append(-float(away @ body.forward) / limb.length)
    if elbows:
        score += 0.3 * float(np.clip(np.mean(elbows) / 0.03, -1.0, 1.0))
    return score


def _named(body: Body, part: str) -> str:
    found = [b for b in body.skeleton.by_name
             if body.names[b].parts.get(part, 0.0) >= 0.8 and not body.names[b].helper]
    return found[0] if found else ""


def _girdles_by_depth(body: Body, legs: list[Limb]) -> float | None:
    """+1 where the legs deeper in the skeleton are ahead, -1 where they are behind."""
    if len(legs) < 3:
        return None
    depth = {limb.root: len(body.skeleton.ancestors(limb.root)) for limb in legs}
    place = {limb.root: float(body.head(limb.path[-1]) @ body.forward) for limb in legs}
    values = np.array([[depth[limb.root], place[limb.root]] for limb in legs])
    centred = values - values.mean(axis=0)
    if np.abs(centred[:, 0]).max() < 0.5:
        head = _named(body, "head")
        if head:
            return float(np.sign(body.ahead(head) - values[:, 1].mean()))
        return _trunk_lead(body, legs)
    return float(np.sign((centred[:, 0] * centred[:, 1]).sum()))


def _trunk_lead(body: Body, legs: list[Limb]) -> float:
    """Where the trunk rises beyond its legs: the head is there."""
    ground = min(tip_height(body, limb) for limb in legs)
    low = min(body.height(limb.root) for limb in legs)
    above = [name for name in body.trunk if body.height(name) > (ground + low) / 2.0]
    if len(above) < 2:
        return 0.0
    heights = np.array([body.height(name) for name in above])
    places = np.array([body.ahead(name) for name in above])
    if np.ptp(heights) < 1e-9 * body.skeleton.size:
        return 0.0
    away = (heights - heights.mean()) @ (places - places.mean())
    return 0.5 * float(np.sign(away))


def _usual(body: Body) -> float:
    """Sign for the usual direction of characters: -Y, or +Z where they are Y up."""
    usual = np.array([0.0, -1.0, 0.0])
    if abs(body.up[1]) > 0.9:
        usual = np.array([0.0, 0.0, 1.0])
    return 1.0 if body.forward @ usual >= -1e-9 else -1.0
