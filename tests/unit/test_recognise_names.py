# SPDX-License-Identifier: GPL-3.0-or-later
"""What names of bones say, and rigs under the names that public ones have."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from poise.addon.rigs.recognise import engine_bones, recognise, standing
from poise.addon.rigs.recognise.names import parse
from poise.solvers import rotations
from rig_cases import (
    both,
    called_by_girdle,
    human,
    laid_along,
    meaningless,
    posed,
    quadruped,
    skeleton,
)
from rig_names import KINDS, RIGS


@pytest.mark.parametrize(
    ("name", "side", "part"),
    [
        ("mixamorig7:LeftUpLeg", "L", "thigh"),
        ("J_Bip_R_LowerArm", "R", "forearm"),
        ("thigh_l", "L", "thigh"),
        ("Bip01 R Calf", "R", "shin"),
        ("lThighBend", "L", "thigh"),
        ("rShldrBend", "R", "upper_arm"),
        ("mKneeRight", "R", "shin"),
        ("thighL", "L", "thigh"),
        ("lfoot", "L", "foot"),
        ("leftupleg", "L", "thigh"),
        ("DEF-thigh.L.001", "L", "thigh"),
        ("DEF-r_toe.L", "L", "toe"),
        ("leg_joint_L_1", "L", "leg"),
        ("Front_Leg_Upper.R", "R", "thigh"),
        ("左足", "L", "thigh"),
        ("右足首", "R", "foot"),
        ("左小腿", "L", "shin"),
        ("Spine1", "", "spine"),
        ("Character|Armature:Head", "", "head"),
        ("right_ball", "R", "toe"),
        ("Leg", "", "leg"),
        ("右脚", "R", "leg"),
    ],
)
def test_side_and_part(name, side, part):
    info = parse(name)
    assert info.side == side
    assert info.parts[part] >= 0.75
    assert not info.helper


@pytest.mark.parametrize(
    ("name", "helper"),
    [
        ("upperarm_twist_01_l", "twist"),
        ("左腕捩", "twist"),
        ("LeftHandIndex1", "finger"),
        ("thumb.01.L", "finger"),
        ("ik_foot_l", "control"),
        ("左足ＩＫ", "control"),
        ("PoleTarget.L", "control"),
        ("HeadTop_End", "end"),
        ("jaw", "soft"),
        ("前髪", "soft"),
    ],
)
def test_helpers_are_known(name, helper):
    assert parse(name).helper == helper


@pytest.mark.parametrize("word", ["lung", "rail", "Ball", "Rig", "toll", "Arm", "Collar", "color"])
def test_words_that_begin_or_end_with_l_or_r_are_no_sides(word):
    assert parse(word).side == ""


@pytest.mark.parametrize(
    ("name", "girdle"),
    [
        ("FrontUpperLeg.L", "fore"), ("BackLowerLeg.R", "hind"), ("hind_foot.L", "hind"),
        ("forefoot.R", "fore"), ("RightForeArm", ""), ("Back", ""), ("左前足", "fore"),
    ],
)
def test_front_and_back_legs(name, girdle):
    assert parse(name).girdle == girdle


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("pose", ["T", "A"])
def test_names_of_public_rigs_give_their_roles(rig, pose):
    joints = human(pose)
    found = recognise(skeleton(joints, RIGS[rig], pointing=False))
    assert found.roles == RIGS[rig]
    assert found.body == "BIPED"
    assert not found.missing
    if rig in KINDS:
        assert found.kind == KINDS[rig]


def test_names_lead_where_a_figure_faces_unusually():
    """A rig that faces +Y with its feet cut off: only names tell left from right."""
    joints = {role: (parent, (-x, -y, z)) for role, (parent, (x, y, z)) in human().items()
              if not role.startswith(("toe", "foot"))}
    found = recognise(skeleton(joints, {role: RIGS["unreal"][role] for role in joints}))
    assert found.roles["thigh.L"] == "thigh_l"
    assert found.turn @ found.turn == pytest.approx(1.0)
    assert abs(found.turn[3]) == pytest.approx(1.0)  # half a turn about Z
    assert found.missing == {"foot.L", "foot.R"}


def test_sides_named_the_wrong_way_round_follow_the_feet():
    swapped = {role: RIGS["unreal"][role[:-1] + {"L": "R", "R": "L"}[role[-1]]]
               if role[-2:] in (".L", ".R") else name for role, name in RIGS["unreal"].items()}
    found = recognise(skeleton(human("A"), swapped))
    assert found.roles["thigh.L"] == "thigh_r"
    assert found.turn == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert any("right" in note for note in found.notes)


def test_a_biped_with_its_legs_on_the_spine_and_its_shoulders_on_the_neck():
    """3ds Max links Biped's thighs to the spine and its clavicles to the neck."""
    names = RIGS["biped"]
    joints = dict(human("A"))
    for side in "LR":
        joints[f"thigh.{side}"] = ("spine.1", joints[f"thigh.{side}"][1])
        joints[f"clavicle.{side}"] = ("neck.1", joints[f"clavicle.{side}"][1])
    assert recognise(skeleton(joints, names)).roles == names


def test_hair_and_clothes_of_vroid_leave_it_a_vrm_figure_with_eyes():
    """Most of its bones are no part of the humanoid, and its eyes hang under the face."""
    joints, names = dict(human("A")), dict(RIGS["vroid"])
    eyes = both({"eye": ("head", (0.03, -0.08, 1.62))})
    strands = {f"hair.{i}": (f"hair.{i - 1}" if i else "head", (0, 0.1, 1.7 - 0.1 * i))
               for i in range(60)}
    names |= {"eye.L": "J_Adj_L_FaceEye", "eye.R": "J_Adj_R_FaceEye"}
    found = recognise(skeleton(
        {**joints, **eyes, **strands},
        names | {role: f"J_Sec_Hair{role[5:]}_01" for role in strands},
    ))
    assert found.kind == "VRM"
    assert found.roles == names


def limb_names(called, sides="LR"):
    """role.side -> name from role -> pattern with {S} for the side."""
    return {f"{role}.{side}": name.format(S=side) for role, name in called.items()
            for side in sides}


def cut(joints, names, part, share, called):
    """A figure whose segments of one part are two bones in one line: names of first and second."""
    end = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}[part]
    joints, names = dict(joints), dict(names)
    for side in "LR":
        start, far = np.array(joints[f"{part}.{side}"][1]), np.array(joints[f"{end}.{side}"][1])
        middle = f"{part}_cut.{side}"
        joints[middle] = (f"{part}.{side}", tuple(start + share * (far - start)))
        joints[f"{end}.{side}"] = (middle, tuple(far))
        names[f"{part}.{side}"], names[middle] = (name.format(S=side) for name in called)
    return joints, names


CUTS = {
    "twist first": ("{part}_twist.{S}", "{part}.{S}"),
    "roll first": ("{part}_roll.{S}", "{part}.{S}"),
    "twist second": ("{part}.{S}", "{part}_twist.{S}"),
    "numbers": ("{part}_01.{S}", "{part}_02.{S}"),
    "nameless roll first": ("roll_{part}.{S}", "{part}.{S}"),
}


@pytest.mark.parametrize("pose", ["T", "A"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("how", CUTS)
def test_a_segment_in_parts_begins_at_the_joint_whatever_its_parts_are_called(how, share, pose):
    joints, names = human(pose), dict(RIGS["metarig"])
    for part in ("thigh", "shin", "upper_arm", "forearm"):
        called = [name.replace("{part}", part) for name in CUTS[how]]
        joints, names = cut(joints, names, part, share, called)
    found = recognise(skeleton(joints, names))
    assert found.roles == {role: name for role, name in names.items() if "_cut" not in role}
    assert not {role for role in found.unsure if role.split(".")[0] in ("thigh", "upper_arm")}


HANDLESS = {
    "plain": {"clavicle": "shoulder.{S}", "upper_arm": "upper_arm.{S}", "forearm": "forearm.{S}"},
    "words": {"clavicle": "{S}_Shoulder", "upper_arm": "{S}_Arm", "forearm": "{S}_ForeArm"},
    "elbow": {"clavicle": "Collar_{S}", "upper_arm": "Shoulder_{S}", "forearm": "Elbow_{S}"},
    "bare": {"upper_arm": "UpperArm{S}", "forearm": "LowerArm{S}"},
}


@pytest.mark.parametrize("pointing", [True, False])
@pytest.mark.parametrize(
    ("rig", "named"), [*((rig, True) for rig in HANDLESS), ("plain", False)]
)
def test_arms_that_end_with_the_forearm_have_no_hand(rig, named, pointing):
    arms = {role: place for role, place in human("A").items() if not role.startswith("hand")
            and (rig != "bare" or not role.startswith("clavicle"))}
    for side in "LR":
        if rig == "bare":
            arms[f"upper_arm.{side}"] = ("chest", arms[f"upper_arm.{side}"][1])
    names = {role: RIGS["metarig"][role] for role in arms} | limb_names(HANDLESS[rig])
    if not named:
        names = meaningless(arms)
    given = skeleton(arms, names, pointing=pointing)
    if pointing:  # forearms as long as they are, with no bone at their ends
        ends = {names[f"forearm.{side}"]: human("A")[f"hand.{side}"][1] for side in "LR"}
        given = type(given).of(
            [replace(b, tail=np.array(ends.get(b.name, b.tail))) for b in given.bones])
    found = recognise(given)
    assert found.roles == names
    assert not found.missing


@pytest.mark.parametrize("named", [True, False])
def test_a_leg_that_ends_with_its_shin_has_no_foot(named):
    """Hips before the thighs do not push thighs to the knees."""
    joints = {role: at for role, at in human("A").items() if not role.startswith(("foot", "toe"))}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"hip.{side}"] = ("pelvis", (0.03 * sign, 0.0, 0.95))
        joints[f"thigh.{side}"] = (f"hip.{side}", joints[f"thigh.{side}"][1])
    names = {role: RIGS["metarig"].get(role, role) for role in joints}
    given = skeleton(joints, names)
    ends = {names[f"shin.{s}"]: np.array(human("A")[f"foot.{s}"][1]) for s in "LR"}
    found = recognise(
        type(given).of([replace(b, tail=ends.get(b.name, b.tail)) for b in given.bones]), named)
    assert {found.roles[f"thigh.{s}"] for s in "LR"} == {"thigh.L", "thigh.R"}
    assert found.missing == {"foot.L", "foot.R"}


def test_names_that_are_one_joint_off_are_no_leg():
    """A hip called thigh, a tenth as long as the leg: the foot would be the knee."""
    joints, names = dict(human("A")), dict(RIGS["metarig"])
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"hip.{side}"] = ("pelvis", (0.04 * sign, 0.0, 0.99))
        joints[f"thigh.{side}"] = (f"hip.{side}", joints[f"thigh.{side}"][1])
        chain = ("hip", "thigh", "shin", "foot", "toe")
        for role, said in zip(chain, ("thigh", "shin", "foot", "toe", "end"), strict=True):
            names[f"{role}.{side}"] = f"{said}.{side}"
    found = recognise(skeleton(joints, names))
    for role in ("thigh", "shin", "foot"):
        for side in "LR":
            assert found.roles[f"{role}.{side}"] == names[f"{role}.{side}"]
            assert f"{role}.{side}" in found.unsure


def test_a_thigh_a_tenth_of_the_leg_is_unsure():
    """Nothing better is there, though: names stay, with a mark."""
    joints = dict(human("A"))
    for side in "LR":
        x, y, z = joints[f"thigh.{side}"][1]
        joints[f"shin.{side}"] = (f"thigh.{side}", (x, y, z - 0.08))
    found = recognise(skeleton(joints, RIGS["metarig"]))
    assert found.roles == RIGS["metarig"]
    assert {"thigh.L", "shin.L", "foot.R"} <= found.unsure


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("pose", ["T", "A", "S"])
def test_people_that_stand_or_sit_are_not_fallen(rig, pose):
    up = np.array([0.0, 0.0, 1.0])
    assert recognise(skeleton(human(pose), RIGS[rig], pointing=False, upright=up)).fallen == ""


def test_animals_called_like_people_are_not_fallen():
    """Thighs, shins and feet behind, upper arms, forearms and hands in front."""
    called = {"fore": ("upper_arm", "forearm", "hand", "fingers"),
              "hind": ("thigh", "shin", "foot", "toe")}
    names = {role: role for role in quadruped()}
    for role in names:
        girdle, *rest = role.split(".")
        if girdle in called:
            names[role] = f"{called[girdle][int(rest[0]) - 1]}.{rest[1]}"
    found = recognise(skeleton(quadruped(), names))
    assert found.fallen == "" and found.body == "QUADRUPED"


@pytest.mark.parametrize("turn", [0, 1, 2])
@pytest.mark.parametrize("rig", RIGS)
def test_limbs_that_all_point_one_way_do_not_stand(rig, turn):
    """Whatever the axis: every bone is as long as it was, and goes the way the back does."""
    joints, way = human("A"), np.roll((0.0, 0.0, 1.0), turn)
    laid = {}
    for role, (parent, at) in joints.items():
        offset = np.array(at) - (joints[parent][1] if parent else 0.0)
        lateral = np.array((offset[0], 0.0, 0.0)) if role.startswith(("thigh", "clav")) else 0.0
        across = np.roll(lateral, turn) if role.startswith(("thigh", "clav")) else lateral
        laid[role] = (parent, tuple(
            np.array(laid[parent][1] if parent else (0.0, 0.0, 0.0))
            + across + way * np.linalg.norm(offset - lateral)))
    found = recognise(skeleton(laid, RIGS[rig]))
    assert found.fallen


@pytest.mark.parametrize("way", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (0, 0, 1)])
@pytest.mark.parametrize("parts", [("arm", "leg"), ("leg",)])
def test_limbs_along_one_axis_beside_an_upright_back_do_not_stand(way, parts):
    joints = human()
    limbs = {"arm": ("forearm", "hand"), "leg": ("shin", "foot", "toe")}
    ends = [role for part in parts for role in limbs[part]]
    laid = {}
    for role, (parent, at) in joints.items():
        offset = np.array(at) - (joints[parent][1] if parent else 0.0)
        if role.split(".")[0] in ends:
            offset = np.array(way) * np.linalg.norm(offset)
        laid[role] = (parent, tuple(np.array(laid[parent][1] if parent else 0.0) + offset))
    up = np.array([0.0, 0.0, 1.0])
    assert recognise(skeleton(laid, RIGS["unreal"], upright=up)).fallen


UP = np.array([0.0, 0.0, 1.0])


def pointed(rest):
    """A skeleton whose bones' Y axes run from head to tail, as Blender's do."""
    bones = []
    for bone in rest.bones:
        turn = rotations.between(np.array([0.0, 1.0, 0.0]), bone.tail - bone.head)
        bones.append(replace(bone, axes=rotations.to_matrix(turn)))
    return type(rest).of(bones, rest.skin, rest.upright)


def stands(rest, roles, given=None):
    """Roles are right in the standing pose, lengths and offsets are those of the rest pose, and
    the lowest ends of all legs are level with the root; the posed skeleton."""
    rest = pointed(rest)
    stood = rest.stood(standing(rest, given))
    found = recognise(stood, given=given)
    assert found.roles == roles
    assert not found.fallen and not found.missing
    for bone in stood.bones:
        was = rest.by_name[bone.name]
        assert bone.axes.T @ bone.axes == pytest.approx(np.eye(3), abs=1e-9)
        if bone.parent and bone.parent != roles.get("root"):
            above, before = stood.by_name[bone.parent], rest.by_name[bone.parent]
            offset = above.axes.T @ (bone.head - above.head)
            assert offset == pytest.approx(before.axes.T @ (was.head - before.head), abs=1e-9)
    legs = [r for r in roles if r.split(".")[0] in ("thigh", "shin", "foot", "toe", "fore", "hind")]
    ends = {side: min(float(end[2]) for role in legs if role.endswith(side)
                      for end in (stood.by_name[roles[role]].head, stood.by_name[roles[role]].tail))
            for side in ("L", "R")}
    ground = stood.by_name[roles["root"]].head[2]
    assert list(ends.values()) == pytest.approx([ground, ground], abs=1e-9)
    return stood


@pytest.mark.parametrize("rig", RIGS)
def test_people_stand_by_the_names_of_their_limbs(rig):
    """Along any axis, beside the trunk or on it, or with every joint turned by an angle about
    as large as a radian; trunk upright, hips to ankles straight down, arms down."""
    names = RIGS[rig]
    cases = [laid_along(human("A"), way, aside) for way, aside in (
        ((0, 1, 0), True), ((0, 1, 0), False), ((0, 0, 1), True), ((1, 0, 0), False),
    )]
    for joints in [*cases, *(posed(human("A"), 1.2, seed) for seed in range(2))]:
        found = stands(skeleton(joints, names, upright=UP), names)
        at = {role: found.by_name[bone].head for role, bone in names.items()}
        for side in "LR":
            hip, ankle = at[f"thigh.{side}"], at[f"foot.{side}"]
            assert ankle[2] - hip[2] < -0.99 * np.linalg.norm(ankle - hip)
            assert at[f"hand.{side}"][2] < at[f"upper_arm.{side}"][2] - 0.4
        back = at["head"] - at["pelvis"]
        assert back[2] > 0.999 * np.linalg.norm(back)


@pytest.mark.parametrize("way", [(0, 1, 0), (0, 0, 1), (0, -1, 0)])
def test_animals_stand_by_the_names_of_their_limbs(way):
    """Level but for what their legs differ in length: the fore ones are 6 cm shorter."""
    names = called_by_girdle(quadruped())
    for joints in (laid_along(quadruped(), way), posed(quadruped(), 1.0, 3)):
        found = stands(skeleton(joints, names, upright=UP), names)
        back = found.head("chest") - found.head("pelvis")
        assert abs(back[2]) < 0.25 * np.linalg.norm(back)


def test_roles_by_hand_do_for_names_that_say_nothing():
    joints = laid_along(human("A"), (0, 1, 0))
    names = meaningless(joints)
    rest = skeleton(joints, names, upright=UP)
    assert standing(rest) == {}
    parts = ("thigh", "shin", "foot", "upper_arm", "forearm", "hand")
    given = {f"{part}.{s}": names[f"{part}.{s}"] for part in parts for s in "LR"}
    places = standing(rest, given)
    found = recognise(rest.stood(places), given=given)
    assert found.roles.items() >= given.items() and not found.missing
    assert found.roles["pelvis"] == names["pelvis"] and found.roles["head"] == names["head"]


def test_bones_of_engines_are_found_on_request():
    """Unreal's mannequin: what hangs on the root goes along with hands and feet when asked to."""
    joints, names = human("A"), dict(RIGS["unreal"])
    joints |= {"finger_ik_feet": ("root", (0, 0, 0)), "finger_ik_hands": ("root", (0, 0, 0)),
               "finger_gun": ("finger_ik_hands", joints["hand.R"][1]),
               "finger_weapon": ("hand.R", joints["hand.R"][1])}
    names |= {"finger_ik_feet": "ik_foot_root", "finger_ik_hands": "ik_hand_root",
              "finger_gun": "ik_hand_gun", "finger_weapon": "weapon_r"}
    for side in "LR":
        joints[f"finger_foot.{side}"] = ("finger_ik_feet", joints[f"foot.{side}"][1])
        joints[f"finger_hand.{side}"] = ("finger_gun", joints[f"hand.{side}"][1])
        names[f"finger_foot.{side}"] = f"ik_foot_{side.lower()}"
        names[f"finger_hand.{side}"] = f"ik_hand_{side.lower()}"
    given = skeleton(joints, names)
    found = recognise(given)
    assert found.roles == RIGS["unreal"]
    assert engine_bones(given, found.roles) == {
        "ik_foot.L": "ik_foot_l", "ik_foot.R": "ik_foot_r", "ik_hand.L": "ik_hand_l",
        "ik_hand.R": "ik_hand_r", "weapon.R": "ik_hand_gun",
    }


def test_a_meta_rig_is_to_be_generated():
    names = RIGS["metarig"]
    joints = human("A") | both({"heel.02": ("foot", (0.09, 0.05, 0.0))})
    for side in "LR":
        joints[f"heel.02.{side}"] = (f"foot.{side}", joints[f"heel.02.{side}"][1])
    found = recognise(skeleton(joints, names | {f"heel.02.{s}": f"heel.02.{s}" for s in "LR"}))
    assert sum("Generate Rig" in note for note in found.notes) == 1
    given = skeleton(human(), names)
    typed = [replace(b, properties=("rigify_type",)) for b in given.bones]
    assert any("meta-rig" in note for note in recognise(type(given).of(typed)).notes)
    assert not any("meta-rig" in note for note in recognise(given).notes)
