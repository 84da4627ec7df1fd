# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joints of a limb are hip, knee and ankle, or shoulder, elbow and wrist.

A limb is a chain of joints that may hold more than its three: twist bones,
clavicles, fingers, ends. Every choice of three in order is weighed by what the
bones are called and by proportions: upper and lower part are about as long as
each other (human thigh to shank 1.0, upper arm to forearm 1.2: Winter 2009,
table 4.1), together they make up most of the limb, and an ankle is where the
drop to the ground is nearly done. The best choice is taken; how far the next
best is behind tells how sure it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from .body import Body, Limb
from .names import BoneName

Choice = tuple[int, ...]  # of three joints, or of two where a limb ends with its second segment
Shape = Callable[[Body, list[str], Choice], float]

NAMED = 1.2  # what a word is worth against proportions
SURE = 0.12  # lead of the best choice over the next
CUT_SHORT = {"hand": 0.5, "foot": 1.0}  # what it costs that a limb has no such end
IN_LINE = float(np.cos(np.radians(10.0)))  # parts of one segment go on in its direction
STUB = 0.2  # share of the two long segments of a limb that each of them has at least
HOCK = 0.15  # share of the way from knee to toes that a heel off the ground is behind it


@dataclass(frozen=True)
class Joints:
    """The bones of one limb.

    Attributes:
        bones: role without its side -> bone.
        sure: whether no other choice came close.
    """

    bones: dict[str, str]
    sure: bool


def segments(body: Body, limb: Limb) -> list[str]:
    """The bones of a limb that could be segments: no parts of one, ends or helpers.

    Args:
        body: the body.
        limb: the limb.
    """
    path = [
        name for name in limb.path
        if body.names[name].helper != "end"
        and (body.names[name].helper != "control" or name in body.skeleton.skin)
    ]
    found: list[str] = []
    for number, name in enumerate(path):
        helper = body.names[name].helper
        if len(found) > 2 and helper == "finger":
            break
        if found and _goes_on(body, found[-1], path[number:]):
            continue
        if helper == "twist" and not _begins(body, found[-1:], path[number:]):
            continue
        found.append(name)
    return found or list(limb.path)


def _begins(body: Body, before: list[str], onward: list[str]) -> bool:
    """Whether a bone called twist is the first part of a segment, and not the last of one."""
    if len(onward) < 2 or not _straight(body, onward[0], onward[1], onward[2:]):
        return False
    said, after = (set(body.names[name].parts) for name in onward[:2])
    if before and body.names[before[0]].parts.get("clavicle", 0.0) < 0.9:
        return bool(said & after) and not said & set(body.names[before[0]].parts)
    return not said or bool(said & after)


def _goes_on(body: Body, before: str, onward: list[str]) -> bool:
    """Whether a bone is the next part of the segment that begins with the one before."""
    first, second = body.names[before], body.names[onward[0]]
    if "clavicle" in first.parts and "clavicle" not in second.parts:
        return False
    if "twist" in (first.helper, second.helper):
        same = bool(set(first.parts) & set(second.parts)) or not (first.parts and second.parts)
    else:
        same = _segment(first.parts) != "" and _segment(first.parts) == _segment(second.parts)
    return same and _straight(body, before, onward[0], onward[1:])


def _segment(parts: Mapping[str, float]) -> str:
    """The one long segment of a limb that a name says, or ""."""
    said = [part for part in ("thigh", "shin", "upper_arm", "forearm") if parts.get(part, 0) >= 0.9]
    return said[0] if len(said) == 1 else ""


def _straight(body: Body, first: str, second: str, onward: list[str]) -> bool:
    """Whether two bones of some length lie in one line."""
    if not onward and not body.pointing:
        return False
    end = body.head(onward[0]) if onward else body.skeleton.by_name[second].tail
    a, b = body.head(second) - body.head(first), end - body.head(second)
    lengths = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    return min(lengths) > 1e-3 * body.skeleton.size and a @ b > IN_LINE * lengths[0] * lengths[1]


def arm(body: Body, limb: Limb) -> Joints:
    """Clavicle, upper arm, forearm and hand of an arm; what is not there is left out.

    Args:
        body: the body.
        limb: the limb.
    """
    chain = segments(body, limb)
    roles: tuple[str, ...] = ("upper_arm", "forearm", "hand")
    if len(chain) < 3:
        first = body.names[chain[0]].parts
        if first.get("clavicle", 0.0) > first.get("upper_arm", 0.0):
            roles = ("clavicle", *roles)
        return Joints(dict(zip(roles, chain, strict=False)), _all_named(body, chain, roles))
    choice, sure = _best(body, chain, roles, _arm_shape)
    bones = {role: chain[i] for role, i in zip(roles, choice, strict=False)}
    before = [
        name for name in chain[: choice[0]]
        if body.names[name].parts.get("clavicle", 0.0) > 0.0 or not body.names[name].parts
        or "arm" in body.names[name].parts
    ]
    if before:
        named = [n for n in before if body.names[n].parts.get("clavicle", 0.0) >= 0.5]
        bones["clavicle"] = (named or before)[0]
    return Joints(bones, sure)


def leg(body: Body, limb: Limb) -> Joints:
    """Thigh, shin, foot and toe of a biped's leg; what is not there is left out.

    Args:
        body: the body.
        limb: the limb.
    """
    chain = segments(body, limb)
    roles = ("thigh", "shin", "foot")
    if len(chain) < 3:
        return Joints(dict(zip(roles, chain, strict=False)), _all_named(body, chain, roles))
    choice, sure = _best(body, chain, roles, _leg_shape)
    if _stubbed(body, chain, choice):
        # What is called so can be no leg: another choice may, and the names mislead.
        sure = False
        blind = replace(body, names={name: BoneName(name) for name in body.names})
        other, _ = _best(blind, chain, roles, _leg_shape)
        choice = choice if _stubbed(body, chain, other) else other
    bones = {role: chain[i] for role, i in zip(roles, choice, strict=False)}
    after = chain[choice[-1] + 1 :] if len(choice) == 3 else []
    named = [n for n in after if body.names[n].parts.get("toe", 0.0) > 0.0]
    if (named or after) and not _divides(body, bones["foot"]):
        bones["toe"] = (named or after)[0]
    return Joints(bones, sure)


def _stubbed(body: Body, chain: list[str], choice: Choice) -> bool:
    """Whether thigh or shin is but a small part of both."""
    joints = np.array([body.head(chain[i]) for i in choice])
    lengths = np.linalg.norm(np.diff(joints, axis=0), axis=1)
    return len(lengths) == 2 and float(lengths.min()) < STUB * float(lengths.sum())


def _hock(body: Body, chain: list[str], choice: Choice) -> bool:
    """Whether a foot is one that walks on its toes: its heel is off the ground, behind the leg."""
    if choice[2] + 1 >= len(chain):
        return False
    knee, heel, toe = (body.head(chain[i]) for i in (*choice[1:], choice[2] + 1))
    line = toe - knee
    share = float((heel - knee) @ line) / max(float(line @ line), 1e-30)
    off = heel - knee - share * line
    ahead = body.head(chain[choice[1]]) - body.head(chain[choice[0]])
    return (
        float(off @ body.forward) < -HOCK * float(np.linalg.norm(line))
        and float(ahead @ body.forward) > HOCK * float(np.linalg.norm(ahead))
    )


def _divides(body: Body, bone: str) -> bool:
    """Whether digits begin here: none of them is the limb going on."""
    return len([
        child for child in body.skeleton.children(bone)
        if body.names[child].helper in ("", "finger")
    ]) >= 3


def paw(body: Body, limb: Limb) -> list[str]:
    """The segments of a leg from the body to the ground, without its digits.

    Args:
        body: the body.
        limb: the limb.
    """
    found = []
    for name in merged(body, segments(body, limb)):
        found.append(name)
        if len(found) > 2 and _divides(body, name):
            break
    return found


def merged(body: Body, chain: list[str]) -> list[str]:
    """A chain without the bones that only carry on the one before.

    Two halves of one segment lie in one line and are equally long, as the
    stretches do into which rigs cut a limb to twist it.

    Args:
        body: the body.
        chain: bones from the body outward.
    """
    kept = list(chain)
    i = 1
    while i + 1 < len(kept):
        before = body.head(kept[i]) - body.head(kept[i - 1])
        after = body.head(kept[i + 1]) - body.head(kept[i])
        a, b = float(np.linalg.norm(before)), float(np.linalg.norm(after))
        long = max(a, b) > 1e-3 * body.skeleton.size
        if long and abs(a - b) < 0.01 * max(a, b) and before @ after > 0.9998 * a * b:
            del kept[i]
            # The second half goes on with the next segment, so the pair is done.
            i += 1
        else:
            i += 1
    return kept


def _all_named(body: Body, chain: list[str], roles: tuple[str, ...]) -> bool:
    return all(
        body.names[name].parts.get(role, 0.0) > 0.0
        for name, role in zip(chain, roles, strict=False)
    )


def _best(
    body: Body, chain: list[str], roles: tuple[str, ...], shape: Shape
) -> tuple[Choice, bool]:
    """Indices of the best three bones, or two if the third has none, and whether they lead."""
    chain = chain[:12]
    scored = []
    steps = [
        float(np.linalg.norm(body.head(b) - body.head(a)))
        for a, b in zip(chain, chain[1:], strict=False)
    ]
    # Two segments may be all there is: the last bone has the length that it shows, or that of
    # the one before.
    last = body.skeleton.by_name[chain[-1]].length if body.pointing else steps[-1]
    short = len(chain) == 3
    total = sum(steps) + last * short
    for choice in (*combinations(range(len(chain)), 3), *[(1, 2)] * short):
        end = last if len(choice) == 2 else 0.0
        score = _proportions(body, chain, choice, total, end) + shape(body, chain, choice)
        score -= CUT_SHORT[roles[2]] * (len(choice) == 2)
        for role, index in zip(roles, choice, strict=False):
            score += _says(body, chain[index], role)
        scored.append((score, tuple(-i for i in choice), choice))
    scored.sort(reverse=True)
    sure = len(scored) < 2 or scored[0][0] - scored[1][0] > SURE
    return scored[0][2], sure


def _says(body: Body, name: str, role: str) -> float:
    """What the name of a bone is worth for a role."""
    info = body.names[name]
    if info.helper in ("finger", "soft"):
        return -NAMED
    if not info.parts:
        return 0.0
    weight = info.parts.get(role, 0.0)
    if weight == 0.0 and {"arm", "leg"} & set(info.parts) and not _segment(info.parts):
        return 0.0  # "arm_3": any part of it
    return NAMED * weight if weight > 0.0 else -0.6 * NAMED


def _proportions(
    body: Body, chain: list[str], choice: Choice, total: float, end: float
) -> float:
    """How alike two segments are, and how much of the limb they make up.

    `end` is the length of the second one where no third begins at its end.
    """
    joints = [body.head(chain[i]) for i in choice]
    lengths = [float(np.linalg.norm(b - a)) for a, b in zip(joints, joints[1:], strict=False)]
    upper, lower = (*lengths, end)[:2]
    tiny = 1e-4 * max(body.skeleton.size, 1e-30)
    if upper < tiny or lower < tiny:
        return -3.0
    score = 2.0 * (upper + lower) / max(total, tiny) - abs(float(np.log(upper / lower)))
    # Joints left out between two cost, and more where the chain bends there.
    for first, last in zip(choice, choice[1:], strict=False):
        start, line = body.head(chain[first]), body.head(chain[last]) - body.head(chain[first])
        for name in chain[first + 1 : last]:
            away = body.head(name) - start
            away = away - line * float(away @ line) / max(float(line @ line), tiny**2)
            score -= 0.3 + float(np.linalg.norm(away)) / max(float(np.linalg.norm(line)), tiny)
    return score


def _arm_shape(body: Body, chain: list[str], choice: Choice) -> float:
    score = 0.0
    fingers = [
        child for child in body.skeleton.children(chain[choice[-1]])
        if body.names[child].helper != "twist"
    ]
    if len(choice) == 3 and len(fingers) >= 2:
        score += 0.3 if len(fingers) == 2 else 0.5
    if choice[0] > 1:
        score -= 0.2 * (choice[0] - 1)
    # What is left before the upper arm may be named for it.
    return score + NAMED * max(
        (body.names[name].parts.get("clavicle", 0.0) for name in chain[: choice[0]]), default=0.0
    )


def _leg_shape(body: Body, chain: list[str], choice: Choice) -> float:
    score = 0.0
    if len(choice) < 3:
        return score
    top = body.height(chain[choice[0]])
    low = min(body.height(name) for name in chain)
    drop = (top - body.height(chain[choice[2]])) / max(top - low, 1e-30)
    if _hock(body, chain, choice):
        score += 0.5
    elif drop < 0.8:
        score -= 2.0 * (0.8 - drop)
    # The ankle is the first joint at which the drop is nearly done.
    score -= 0.4 * sum(
        (top - body.height(name)) / max(top - low, 1e-30) > 0.85
        for name in chain[choice[1] + 1 : choice[2]]
    )
    score -= 0.25 * max(0, choice[0] - 1)
    if choice[0] == 1:
        # A hip joint before the thigh is short and lies near the plane.
        first = float(np.linalg.norm(body.head(chain[1]) - body.head(chain[0])))
        thigh = float(np.linalg.norm(body.head(chain[choice[1]]) - body.head(chain[1])))
        score -= 0.3 * min(1.0, first / max(thigh, 1e-30))
    return score
