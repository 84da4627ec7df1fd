# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles from the shape alone: poses, directions, sizes, numbers of legs."""

import sys
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from poise.addon.rigs.recognise import recognise
from poise.solvers import rotations
from rig_cases import (
    both,
    human,
    insect,
    meaningless,
    ostrich,
    posed,
    quadruped,
    raptor,
    skeleton,
)
from rig_names import RIGS


def gown(chains):
    """Chains all around a pelvis, hanging straight down to the ground, a little flared."""
    found = {}
    for number in range(chains):
        angle = 2.0 * np.pi * (number + 0.5) / chains
        before = "pelvis"
        for bone in range(4):
            wide, high = 1.0 + 0.25 * bone, 0.95 - 0.3 * bone
            name = f"finger_{number}_{bone}"
            found[name] = (
                before, (0.15 * wide * np.cos(angle), 0.12 * wide * np.sin(angle), high)
            )
            before = name
    return found


def cape(chains):
    """Chains from the shoulders down the back to the ground."""
    found = {}
    for number in range(chains):
        before = "chest"
        for bone in range(6):
            at = (-0.16 + 0.32 * number / (chains - 1), 0.09 + 0.03 * bone, 1.40 - 0.26 * bone)
            found[f"finger_cape{number}_{bone}"] = before, at
            before = f"finger_cape{number}_{bone}"
    return found


def wings():
    """Wings longer than arms, with feathers all along, behind them."""
    before, joints = "chest", {}
    for bone in range(5):
        at = (0.06 + 0.22 * bone, 0.10 + 0.04 * bone, 1.40 + 0.03 * bone)
        joints[f"finger_wing{bone}"] = before, at
        before = f"finger_wing{bone}"
        if bone:
            joints[f"finger_feather{bone}"] = before, (at[0] + 0.02, at[1] + 0.05, at[2] - 0.3)
    return both(joints)


FIGURES = {
    "gown": human() | gown(6),
    "gown of eight": human() | gown(8),
    "cape": human() | cape(5),
    "cape and gown": human() | cape(5) | gown(8),
    "wings": human() | wings(),
    "T pose": human(),
    "A pose with fingers": human("A", fingers=True),
    "seated": human("S"),
    "twists and fingers": human("T", fingers=True, twists=True),
    "dog": quadruped(),
    "dog without a tail": quadruped(0),
    "six legs": insect(3),
    "eight legs": insect(4),
}
BODY = {"dog": "QUADRUPED", "dog without a tail": "QUADRUPED", "six legs": "LEGS",
        "eight legs": "LEGS"}


def roles_of(joints):
    """The joints that play a role: no fingers, no twist bones."""
    return [role for role in joints if "finger" not in role and "twist" not in role]


def quarter_turns():
    """The 24 rotations that turn axes into axes."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[list(order), range(3)] = signs
            if np.linalg.det(turn) > 0.0:
                found.append(turn)
    return found


@pytest.mark.parametrize("pointing", [True, False])
@pytest.mark.parametrize("figure", FIGURES)
def test_meaningless_names(figure, pointing):
    joints = FIGURES[figure]
    names = meaningless(joints)
    found = recognise(skeleton(joints, names, pointing=pointing))
    assert found.roles == {role: names[role] for role in roles_of(joints)}
    assert found.body == BODY.get(figure, "BIPED")
    assert found.turn == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert not found.missing


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("figure", FIGURES)
def test_any_axes_and_any_size(figure, named):
    joints = FIGURES[figure]
    names = {role: role for role in joints} if named else meaningless(joints)
    for number, turn in enumerate(quarter_turns()):
        scale = (1e-4, 77.0)[number % 2]
        found = recognise(skeleton(joints, names, turn, scale, pointing=False))
        assert found.roles == {role: names[role] for role in roles_of(joints)}
        # `turn` leads back from armature space to character space.
        assert rotations.to_matrix(found.turn) @ turn == pytest.approx(np.eye(3), abs=1e-9)


@pytest.mark.parametrize("bones", [2, 3])
@pytest.mark.parametrize("girdles", [3, 4])
def test_legs_without_feet_stand_on_the_ends_of_their_last_bones(girdles, bones):
    # All joints of a spider's legs may be above its body: taken for feet they would be up.
    joints = {
        role: joint for role, joint in insect(girdles).items()
        if bones == 3 or not role.startswith("leg") or ".3" not in role
    }
    if bones == 3:  # coxa, femur and tibia
        for role, (above, place) in list(joints.items()):
            if role.startswith("leg") and ".2" in role:
                joints[role] = (above, (0.5 * place[0], place[1], 0.24))
            if role.startswith("leg") and ".3" in role:
                joints[role] = (above, (0.6 * place[0], place[1], 0.34))
    names = meaningless(joints)
    given = skeleton(joints, names)
    tips = {names[r] for r in joints if r.startswith("leg") and f".{bones}" in r}
    ended = [
        replace(bone, tail=bone.head + (0.3 * np.sign(bone.head[0]), 0.0, -bone.head[2]))
        if bone.name in tips else bone
        for bone in given.bones
    ]
    found = recognise(type(given).of(ended))
    assert found.turn == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert found.body == "LEGS"
    assert {role: bone for role, bone in found.roles.items() if role.startswith("leg")} == {
        role: names[role] for role in joints if role.startswith("leg")
    }


@pytest.mark.parametrize("angle", [0.35, 0.8, 2.0, -2.6])
@pytest.mark.parametrize("figure", ["A pose with fingers", "dog"])
def test_rest_pose_that_faces_between_the_axes(figure, angle):
    joints = FIGURES[figure]
    names = meaningless(joints)
    turn = rotations.to_matrix(rotations.about_z(angle))
    found = recognise(skeleton(joints, names, turn))
    assert found.roles == {role: names[role] for role in roles_of(joints)}
    assert rotations.to_matrix(found.turn) @ turn == pytest.approx(np.eye(3), abs=0.02)


@pytest.mark.parametrize("figure", FIGURES)
def test_order_of_the_bones_does_not_matter(figure):
    joints = FIGURES[figure]
    names = meaningless(joints)
    given = skeleton(joints, names)
    shuffled = [given.bones[i] for i in np.random.default_rng(5).permutation(len(given))]
    assert recognise(type(given).of(shuffled)).roles == recognise(given).roles


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("figure", ["A pose with fingers", "T pose", "dog"])
def test_rest_pose_that_is_not_symmetrical(figure, seed):
    """As motion capture leaves it: by name at 12 deg a joint, by shape at 5."""
    joints = posed(FIGURES[figure], 0.2, seed)
    found = recognise(skeleton(joints))
    assert found.roles == {role: role for role in roles_of(joints)}
    assert rotations.to_matrix(found.turn)[2, 2] > 0.95

    joints = posed(FIGURES[figure], 0.08, seed)
    names = meaningless(joints)
    found = recognise(skeleton(joints, names, pointing=False))
    assert found.roles == {role: names[role] for role in roles_of(joints)}


def test_ends_without_skin_play_no_role():
    joints = human() | both({"toe_tip": ("toe", (0.09, -0.2, 0.02))})
    joints["head_top"] = ("head", (0.0, 0.0, 1.75))
    joints["toe_tip.L"] = ("toe.L", joints["toe_tip.L"][1])
    joints["toe_tip.R"] = ("toe.R", joints["toe_tip.R"][1])
    names = meaningless(joints)
    skin = {names[role]: 100.0 for role in joints if "t" != role[-1] and "_t" not in role
            and role != "root"}
    found = recognise(skeleton(joints, names, skin=skin))
    assert found.roles["head"] == names["head"]
    assert found.roles["toe.L"] == names["toe.L"]
    assert names["head_top"] not in found.roles.values()


def test_feet_under_free_ik_bones_are_joined_by_place():
    """The foot hangs from a bone without a parent that begins where the shin ends."""
    joints = human("A")
    joints = {role: at for role, at in joints.items() if not role.startswith("toe")}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"foot.{side}"] = (f"ik.{side}", joints[f"foot.{side}"][1])
        joints[f"ik.{side}"] = ("", (sign * 0.09, 0.02, 0.12))
    names = meaningless(joints)
    skin = {names[role]: 50.0 for role in joints if not role.startswith(("ik", "root"))}
    found = recognise(skeleton(joints, names, pointing=False, skin=skin))
    assert not found.missing
    for side in "LR":
        assert found.roles[f"thigh.{side}"] == names[f"thigh.{side}"]
        assert found.roles[f"foot.{side}"] in (names[f"foot.{side}"], names[f"ik.{side}"])


def test_controls_beside_the_joints_they_drive_change_nothing():
    """Free targets at the ankles and poles before the knees, all of them deforming."""
    joints = human("A")
    plain = meaningless(joints)
    more = dict(joints)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        more[f"target.{side}"] = ("", joints[f"foot.{side}"][1])
        more[f"pole.{side}"] = ("", (sign * 0.09, -0.6, 0.5))
    found = recognise(skeleton(more, meaningless(more)))
    assert found.roles == {role: plain[role] for role in joints}


def test_number_of_bones_costs_little():
    """Chains of a skirt round the hips: 700 bones in well under a second or two."""
    import time

    joints = human("T", fingers=True)
    for strand in range(60):
        angle = 2.0 * np.pi * strand / 60.0
        before = "pelvis"
        for link in range(11):
            name = f"skirt{strand}_{link}"
            reach = 0.15 + 0.02 * link
            at = (reach * np.sin(angle), reach * np.cos(angle), 0.95 - 0.03 * link)
            joints[name] = (before, at)
            before = name
    names = {role: role for role in joints}
    start = time.process_time()
    found = recognise(skeleton(joints, names))
    assert time.process_time() - start < 5.0
    assert found.roles == {role: role for role in human()}


def doubled(joints, names, parts, pattern):
    """A figure with second chains of some segments on the first ones, named by a pattern."""
    joints, names = dict(joints), dict(names)
    for role, (parent, at) in list(joints.items()):
        part, _, side = role.partition(".")
        if part in parts and side:
            again = parent.split(".")[0] in parts
            joints[f"{part}#.{side}"] = (parent.replace(".", "#.") if again else parent, at)
            names[f"{part}#.{side}"] = pattern.format(part=part, S=side)
    return joints, names


ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")


@pytest.mark.parametrize("parts", [LEG, ARM, ARM + LEG, (*LEG, "toe")])
@pytest.mark.parametrize("pattern", ["{part}_fk.{S}", "{part}_def.{S}", "DEF-{part}.{S}",
                                     "Bone_{part}.{S}.002", ""])
def test_chains_that_lie_on_others_are_no_more_limbs(pattern, parts):
    joints, names = human("A"), {role: role for role in human("A")}
    joints, names = doubled(joints, names, parts, pattern or "{part}#.{S}")
    if not pattern:
        names = meaningless(joints)
    found = recognise(skeleton(joints, names))
    assert found.body == "BIPED"
    assert {role.replace("#", ""): bone for role, bone in names.items()
            if bone in found.roles.values()} == found.roles
    assert set(found.roles) == set(human())
    if pattern:
        assert "#" not in "".join(r for r, b in names.items() if b in found.roles.values())


def test_of_two_chains_the_one_that_carries_skin_or_is_copied_counts():
    joints, names = human("A"), {role: role for role in human("A")}
    parts = (*LEG, "toe")
    joints, names = doubled(joints, names, parts, "{part}_def.{S}")
    given = skeleton(joints, names)
    skin = {name: 9.0 for role, name in names.items() if role.split(".")[0] not in parts}
    found = recognise(type(given).of(given.bones, skin))
    assert found.roles == {role: role for role in human()} | {
        f"{part}.{side}": f"{part}_def.{side}" for part in parts for side in "LR"}
    copying = [
        replace(b, constraints=("COPY_ROTATION",), targets=(b.name.replace("_def", ""),))
        if "_def" in b.name else b
        for b in given.bones
    ]
    found = recognise(type(given).of(copying, skin))
    assert found.roles == {role: role for role in human()}


def test_a_whole_second_skeleton_on_the_first():
    joints = human("A")
    names = {role: role for role in joints}
    for role, (parent, at) in human("A").items():
        if role != "root":
            joints[f"{role}#"] = (parent if parent == "root" else f"{parent}#", at)
            names[f"{role}#"] = f"CTRL_{role}"
    found = recognise(skeleton(joints, names))
    assert found.roles == {role: role for role in human()}


@pytest.mark.parametrize("given", [("thigh.L", "thigh.R"), ("thigh.L",),
                                   tuple(f"{p}.{s}" for p in LEG for s in "LR")])
def test_what_is_known_is_added_to_and_not_replaced(given):
    """Legs that are known among more make a person of the rest: arms and head too."""
    more = both({
        "cloth1": ("pelvis", (0.16, 0.1, 0.93)), "cloth2": ("cloth1", (0.2, 0.12, 0.5)),
        "cloth3": ("cloth2", (0.2, 0.14, 0.1)), "cloth4": ("cloth3", (0.2, -0.02, 0.04)),
    })
    joints = human("A") | more
    names = meaningless(joints)
    assert recognise(skeleton(joints, names)).body == "QUADRUPED"
    found = recognise(skeleton(joints, names), given={role: names[role] for role in given})
    assert found.body == "BIPED" and not found.missing
    assert {role: bone for role, bone in found.roles.items() if "tail" not in role} == {
        role: names[role] for role in human()}
    assert not found.unsure & set(given)


def test_a_known_bone_keeps_its_role():
    given = {"chest": "spine_02", "tail.1": "ball_l"}
    found = recognise(skeleton(human("A"), RIGS["unreal"]), given=given)
    assert found.roles.items() >= given.items()
    assert {role: bone for role, bone in found.roles.items() if RIGS["unreal"].get(role) != bone
            and "neck" not in role} == given


def from_the_middle(joints):
    """A figure whose back and pelvis hang on a bone in the middle of its body."""
    middle = {"root": joints["root"], "finger_middle": ("root", (0, -0.25, 1.0))}
    return middle | {
        role: ("finger_middle" if role in ("pelvis", "spine.1") else parent, at)
        for role, (parent, at) in joints.items() if role != "root"
    }


LEVEL = {
    "raptor from its middle": from_the_middle(raptor()),
    "raptor without arms from its middle": from_the_middle(raptor("")),
    "raptor": raptor(),
    "raptor with shoulders and digits": raptor("shoulders", toes=3),
    "raptor without arms": raptor(""),
    "raptor without a tail": raptor(tail=0),
    "raptor with a low neck": raptor(neck=0.5),
    "raptor of four spines": raptor(spine=4),
    "tyrannosaur": raptor("tiny", tail=8, spine=3),
    "tyrannosaur with digits": raptor("tiny", toes=3),
    "ostrich": ostrich(),
    "ostrich without wings": ostrich(False),
}


@pytest.mark.parametrize("how", ["roles", "metarig", "hips", "shape"])
@pytest.mark.parametrize("figure", LEVEL)
def test_two_legs_under_a_trunk_that_lies_level(figure, how):
    joints = LEVEL[figure]
    names = {role: role for role in joints}
    if how == "metarig":
        names = {role: RIGS["metarig"].get(role, role) for role in joints}
    if how == "hips":
        names |= {"pelvis": "Hips", "chest": f"Spine{sum('spine' in r for r in joints) + 1}"}
        names |= {role: role.replace("spine.", "Spine") for role in joints if "spine" in role}
    if how != "shape" and "finger_middle" in names:
        names["finger_middle"] = "Body"
    if how == "shape":
        names = meaningless(joints)
    for number, turn in enumerate((np.eye(3), *quarter_turns()[5:24:9])):
        given = skeleton(joints, names, turn, (1.0, 0.01)[number % 2], pointing=number != 1,
                         upright=turn[:, 2])
        found = recognise(given)
        assert found.body == "BIPED" and not found.missing and not found.fallen
        assert found.roles == {role: names[role] for role in roles_of(joints)}
        assert rotations.to_matrix(found.turn) @ turn == pytest.approx(np.eye(3), abs=1e-9)
