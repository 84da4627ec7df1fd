# SPDX-License-Identifier: GPL-3.0-or-later
"""What names of bones say, and rigs under the names that public ones have."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from poise.addon.rigs.recognise import recognise
from poise.addon.rigs.recognise.names import parse
from rig_cases import both, human, skeleton
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
