# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of made-up rigs for the tests of recognition.

Figures stand in character space (Z up, facing -Y, +X to their left). Proportions of
the human follow Winter 2009, table 4.1 (segment lengths as parts of the stature).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from poise.addon.rigs.recognise import BoneRest, Skeleton
from poise.solvers import rotations

# role -> (parent role, head); the left side only: the right one is its mirror image.
_TRUNK = {
    "root": ("", (0, 0, 0)),
    "pelvis": ("root", (0, 0.01, 0.96)),
    "spine.1": ("pelvis", (0, 0.01, 1.06)),
    "spine.2": ("spine.1", (0, 0.01, 1.16)),
    "chest": ("spine.2", (0, 0.02, 1.28)),
    "neck.1": ("chest", (0, 0.02, 1.47)),
    "head": ("neck.1", (0, 0, 1.56)),
}
_ARM = {
    "clavicle": ("chest", (0.03, 0.0, 1.42)),
    "upper_arm": ("clavicle", (0.18, 0.02, 1.42)),
    "forearm": ("upper_arm", (0.48, 0.03, 1.42)),
    "hand": ("forearm", (0.73, 0.02, 1.42)),
}
_LEG = {
    "thigh": ("pelvis", (0.09, 0.0, 0.92)),
    "shin": ("thigh", (0.09, -0.01, 0.50)),
    "foot": ("shin", (0.09, 0.02, 0.08)),
    "toe": ("foot", (0.09, -0.12, 0.02)),
}
_A_ARM = {"upper_arm": (0.18, 0.02, 1.42), "forearm": (0.37, 0.03, 1.19),
          "hand": (0.54, 0.0, 1.01)}
_SEATED = {"thigh": (0.09, 0.0, 0.52), "shin": (0.10, -0.42, 0.50), "foot": (0.10, -0.40, 0.08),
           "toe": (0.10, -0.54, 0.02)}

def posed(joints: dict[str, Joint], amount: float, seed: int) -> dict[str, Joint]:
    """A figure whose joints are turned at random: less in the trunk than in the limbs.

    Args:
        joints: role -> (parent role, head), parents first.
        amount: standard deviation of the angles about each axis, in rad.
        seed: of the random numbers.
    """
    random = np.random.default_rng(seed)
    places: dict[str, np.ndarray] = {}
    turns: dict[str, np.ndarray] = {}
    for role, (parent, at) in joints.items():
        if not parent:
            places[role], turns[role] = np.array(at, dtype=float), rotations.identity(1)[0]
            continue
        vector = random.normal(size=3) * amount
        if role.startswith(("pelvis", "spine", "chest")):
            vector = 0.15 * vector
        angle = float(np.linalg.norm(vector))
        turn = rotations.from_axis_angle(vector / angle, angle)
        offset = np.array(at) - np.array(joints[parent][1])
        places[role] = places[parent] + rotations.rotate(turns[parent], offset)
        turns[role] = rotations.multiply(turns[parent], turn)
    return {role: (joints[role][0], tuple(places[role])) for role in joints}


Joint = tuple[str, tuple[float, float, float]]


def both(one_side: dict[str, Joint]) -> dict[str, Joint]:
    """Joints of the left side and their mirror images."""
    found: dict[str, Joint] = {}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for role, (parent, (x, y, z)) in one_side.items():
            inside = parent if parent not in one_side else f"{parent}.{side}"
            found[f"{role}.{side}"] = (inside, (sign * x, y, z))
    return found


def human(pose: str = "T", fingers: bool = False, twists: bool = False) -> dict[str, Joint]:
    """Joints of a human figure in a T pose, an A pose ("A") or seated ("S")."""
    arm, leg, trunk = dict(_ARM), dict(_LEG), dict(_TRUNK)
    if pose != "T":
        arm = {role: (parent, _A_ARM.get(role, at)) for role, (parent, at) in arm.items()}
    if pose == "S":
        leg = {role: (parent, _SEATED[role]) for role, (parent, _) in leg.items()}
        low = {"root"}
        drop = lambda role, at: at if role in low else (at[0], at[1], at[2] - 0.4)  # noqa: E731
        trunk = {role: (parent, drop(role, at)) for role, (parent, at) in trunk.items()}
        arm = {role: (parent, drop(role, at)) for role, (parent, at) in arm.items()}
    if twists:
        for start, end in (("upper_arm", "forearm"), ("thigh", "shin")):
            limb = arm if start in arm else leg
            middle = tuple((np.array(limb[start][1]) + limb[end][1]) / 2.0)
            limb[f"{start}_twist"] = (start, middle)
    if fingers:
        hand = np.array(arm["hand"][1])
        out = hand - arm["forearm"][1]
        out = out / np.linalg.norm(out)
        for number, spread in enumerate((-0.06, -0.03, -0.01, 0.01, 0.03)):
            before = "hand"
            for bone in range(3):
                at = hand + out * ((0.03 if number == 0 else 0.09) + 0.03 * bone)
                name = f"finger{number}_{bone}"
                arm[name] = (before, (at[0], at[1] + spread, at[2]))
                before = name
    return {**trunk, **both(arm), **both(leg)}


def quadruped(tail: int = 4) -> dict[str, Joint]:
    """Joints of a dog-like figure, 0.6 m at the shoulder."""
    trunk: dict[str, Joint] = {
        "root": ("", (0, 0, 0)),
        "pelvis": ("root", (0, 0.32, 0.56)),
        "spine.1": ("pelvis", (0, 0.15, 0.58)),
        "spine.2": ("spine.1", (0, 0.0, 0.58)),
        "chest": ("spine.2", (0, -0.15, 0.57)),
        "neck.1": ("chest", (0, -0.36, 0.60)),
        "neck.2": ("neck.1", (0, -0.44, 0.68)),
        "head": ("neck.2", (0, -0.52, 0.76)),
    }
    before = "pelvis"
    for number in range(1, tail + 1):
        trunk[f"tail.{number}"] = (before, (0, 0.32 + 0.09 * number, 0.58 - 0.04 * number))
        before = f"tail.{number}"
    fore = {
        "fore.1": ("chest", (0.08, -0.30, 0.50)),
        "fore.2": ("fore.1", (0.09, -0.24, 0.36)),
        "fore.3": ("fore.2", (0.09, -0.28, 0.14)),
        "fore.4": ("fore.3", (0.09, -0.30, 0.03)),
    }
    hind = {
        "hind.1": ("pelvis", (0.07, 0.30, 0.52)),
        "hind.2": ("hind.1", (0.08, 0.24, 0.32)),
        "hind.3": ("hind.2", (0.08, 0.38, 0.18)),
        "hind.4": ("hind.3", (0.08, 0.33, 0.03)),
    }
    return {**trunk, **both(fore), **both(hind)}


def insect(girdles: int) -> dict[str, Joint]:
    """Joints of a figure with many legs of three segments along a low body."""
    found: dict[str, Joint] = {
        "root": ("", (0, 0, 0)),
        "pelvis": ("root", (0, 0.20, 0.20)),
        "head": ("pelvis", (0, -0.45, 0.24)),
    }
    for number in range(1, girdles + 1):
        y = -0.3 + 0.5 * (number - 1) / max(girdles - 1, 1)
        found |= both({
            f"leg{number}.1": ("pelvis", (0.08, y, 0.20)),
            f"leg{number}.2": (f"leg{number}.1", (0.30, y - 0.03, 0.34)),
            f"leg{number}.3": (f"leg{number}.2", (0.52, y - 0.05, 0.02)),
        })
    return found


def skeleton(
    joints: dict[str, Joint],
    names: dict[str, str] | None = None,
    turn: np.ndarray | None = None,
    scale: float = 1.0,
    pointing: bool = True,
    **facts,
) -> Skeleton:
    """A skeleton of joints.

    Args:
        joints: role -> (parent role, head).
        names: role -> name of the bone; roles are the names where it is None.
        turn: (3, 3) what turns character space into armature space.
        scale: armature units per metre.
        pointing: whether bones end where their children begin; else all point along +Y.
        facts: what `Skeleton.of` takes besides.
    """
    names = names or {role: role for role in joints}
    turn = np.eye(3) if turn is None else turn
    heads = {role: scale * (turn @ np.array(at, dtype=float)) for role, (_, at) in joints.items()}
    bones = []
    for role, (parent, _) in joints.items():
        child = next((r for r, (p, _) in joints.items() if p == role), None)
        tail = heads[role] + scale * (turn @ np.array([0.0, -0.05, 0.0]))
        if not pointing:
            tail = heads[role] + scale * np.array([0.0, 0.05, 0.0])
        elif child is not None:
            tail = heads[child]
        bones.append(BoneRest(names[role], names[parent] if parent else "", heads[role], tail))
    return Skeleton.of(bones, **facts)


def renamed(given: Skeleton, names: dict[str, str]) -> Skeleton:
    """A skeleton with other names."""
    return Skeleton.of(
        [replace(b, name=names[b.name], parent=names.get(b.parent, "")) for b in given.bones],
        {names[name]: weight for name, weight in given.skin.items()},
        given.upright,
    )


def called_by_girdle(joints: dict[str, Joint]) -> dict[str, str]:
    """role -> name of bones of an animal: "FrontUpperLeg.L", "BackPaw.R", "spine1" and so on."""
    part = {"1": "UpperLeg", "2": "LowerLeg", "3": "Paw", "4": "Toe"}
    names = {}
    for role in joints:
        girdle, *rest = role.split(".")
        names[role] = role.replace(".", "")
        if girdle in ("fore", "hind"):
            names[role] = f"{'Front' if girdle == 'fore' else 'Back'}{part[rest[0]]}.{rest[1]}"
    return names


def laid_along(joints: dict[str, Joint], way, aside: bool = True) -> dict[str, Joint]:
    """A figure all of whose bones point one way; limbs begin beside the trunk, or on it.

    Args:
        joints: role -> (parent role, head), parents first.
        way: (3,) unit vector.
        aside: whether limbs begin beside the trunk.
    """
    found = {}
    for role, (parent, at) in joints.items():
        if not parent:
            found[role] = (parent, at)
            continue
        offset, part = np.array(at) - joints[parent][1], role.split(".")
        begins = part[0] in ("thigh", "clavicle") or (len(part) == 3 and part[1] == "1")
        across = np.array((offset[0] if begins and aside else 0.0, 0.0, 0.0))
        far = np.array(way) * np.linalg.norm(offset - across)
        found[role] = (parent, tuple(np.array(found[parent][1]) + across + far))
    return found


def meaningless(joints: dict[str, Joint]) -> dict[str, str]:
    """role -> "Bone.001" and so on."""
    return {role: f"Bone.{number:03}" for number, role in enumerate(joints)}


def raptor(
    arms: str = "arms", tail: int = 5, spine: int = 2, toes: int = 0, neck: float = 1.0
) -> dict[str, Joint]:
    """Joints of an animal on two legs whose trunk lies level, hips at 1 m, hocks off the ground.

    Args:
        arms: "arms", "shoulders" for ones with clavicles, "tiny" as a tyrannosaur's, or "".
        tail: number of bones of the tail.
        spine: number of bones between pelvis and chest.
        toes: number of digits of each foot, each of two bones, which begin at the toe.
        neck: how steeply the neck rises.
    """
    found: dict[str, Joint] = {"root": ("", (0, 0, 0)), "pelvis": ("root", (0, 0, 1.0))}
    before = "pelvis"
    for number in range(1, spine + 1):
        found[f"spine.{number}"] = (before, (0, -0.6 * number / (spine + 1), 1 + 0.02 * number))
        before = f"spine.{number}"
    found |= {
        "chest": (before, (0, -0.6, 1.06)),
        "neck.1": ("chest", (0, -0.78, 1.06 + 0.09 * neck)),
        "neck.2": ("neck.1", (0, -0.88, 1.06 + 0.26 * neck)),
        "head": ("neck.2", (0, -0.98, 1.06 + 0.39 * neck)),
    }
    before = "pelvis"
    for number in range(1, tail + 1):
        found[f"tail.{number}"] = (before, (0, 0.05 + 0.2 * number, 1 - 0.02 * number))
        before = f"tail.{number}"
    leg = {"thigh": ("pelvis", (0.12, 0, 0.95)), "shin": ("thigh", (0.12, -0.22, 0.66)),
           "foot": ("shin", (0.12, 0.12, 0.36)), "toe": ("foot", (0.12, 0.02, 0.07))}
    for digit in range(toes):
        aside = 0.12 + 0.06 * (digit - (toes - 1) / 2.0)
        leg[f"finger{digit}_0"] = ("toe", (aside, -0.05, 0.03))
        leg[f"finger{digit}_1"] = (f"finger{digit}_0", (aside, -0.1, 0.01))
    arm: dict[str, Joint] = {
        "upper_arm": ("chest", (0.10, -0.64, 0.98)), "forearm": ("upper_arm", (0.13, -0.54, 0.82)),
        "hand": ("forearm", (0.13, -0.66, 0.72)),
    }
    if arms == "shoulders":
        arm = {"clavicle": ("chest", (0.04, -0.6, 1.02)), **arm}
        arm["upper_arm"] = ("clavicle", arm["upper_arm"][1])
    if arms == "tiny":
        arm = {"upper_arm": ("chest", (0.1, -0.64, 0.92)),
               "forearm": ("upper_arm", (0.11, -0.66, 0.84)),
               "hand": ("forearm", (0.11, -0.72, 0.80))}
    return {**found, **both(arm if arms else {}), **both(leg)}


def ostrich(wings: bool = True) -> dict[str, Joint]:
    """Joints of a bird that runs: a long neck, short thighs, hocks half-way up."""
    found: dict[str, Joint] = {
        "root": ("", (0, 0, 0)), "pelvis": ("root", (0, 0.1, 1.2)),
        "spine.1": ("pelvis", (0, -0.1, 1.24)), "chest": ("spine.1", (0, -0.35, 1.2)),
        "neck.1": ("chest", (0, -0.5, 1.3)), "neck.2": ("neck.1", (0, -0.6, 1.55)),
        "neck.3": ("neck.2", (0, -0.6, 1.85)), "head": ("neck.3", (0, -0.62, 2.1)),
        "tail.1": ("pelvis", (0, 0.35, 1.2)), "tail.2": ("tail.1", (0, 0.5, 1.15)),
    }
    leg = {"thigh": ("pelvis", (0.12, 0.05, 1.15)), "shin": ("thigh", (0.14, -0.2, 0.95)),
           "foot": ("shin", (0.13, 0.1, 0.5)), "toe": ("foot", (0.13, 0.0, 0.06))}
    arm = {"upper_arm": ("chest", (0.15, -0.35, 1.25)),
           "forearm": ("upper_arm", (0.22, -0.1, 1.15)), "hand": ("forearm", (0.22, -0.3, 1.1))}
    return {**found, **both(arm if wings else {}), **both(leg)}
