# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that lack something, and rigs that are broken: roles as far as they go, or a sentence."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from poise.addon.rigs.recognise import BoneRest, Skeleton, recognise
from poise.addon.rigs.recognise.rolemap import is_role
from rig_cases import both, human, meaningless, quadruped, skeleton
from rig_names import RIGS


def without(joints, *starts):
    """Joints without those whose role begins so."""
    return {role: at for role, at in joints.items() if not role.startswith(starts)}


def test_no_bones():
    found = recognise(Skeleton.of([]))
    assert found.roles == {}
    assert "pelvis" in found.missing
    assert found.notes


def test_one_bone():
    bone = BoneRest("Bone", "", np.zeros(3), np.array([0.0, 0.0, 1.0]))
    found = recognise(Skeleton.of([bone]))
    assert {"thigh.L", "foot.R"} <= found.missing
    assert "No legs were found." in found.notes


def test_bones_all_in_one_place():
    bones = [BoneRest(f"B{i}", f"B{i - 1}" if i else "", np.zeros(3), np.zeros(3))
             for i in range(9)]
    assert recognise(Skeleton.of(bones)).missing


def test_bones_nowhere():
    bones = [BoneRest("a", "", np.zeros(3), np.ones(3)),
             BoneRest("b", "a", np.array([np.nan, 0.0, 0.0]), np.ones(3))]
    found = recognise(Skeleton.of(bones))
    assert found.roles == {}
    assert found.notes


@pytest.mark.parametrize("named", [True, False])
def test_no_legs(named):
    joints = without(human("A"), "thigh", "shin", "foot", "toe")
    names = {r: RIGS["unreal"][r] for r in joints} if named else meaningless(joints)
    found = recognise(skeleton(joints, names, upright=np.array([0.0, 0.0, 1.0])))
    assert found.missing >= {"thigh.L", "thigh.R", "foot.L", "foot.R"}
    assert "No legs were found." in found.notes
    if named:
        for role in joints:
            assert found.roles[role] == names[role]


@pytest.mark.parametrize("named", [True, False])
def test_one_leg(named):
    joints = without(human("A"), "thigh.R", "shin.R", "foot.R", "toe.R")
    names = {r: RIGS["unreal"][r] for r in joints} if named else meaningless(joints)
    found = recognise(skeleton(joints, names))
    assert found.missing == {"thigh.R", "shin.R", "foot.R"}
    assert found.roles == {role: names[role] for role in joints}


def test_names_of_one_side_missing():
    """The right half was never named: its bones are found as mirror images."""
    joints = human("A")
    names = {role: RIGS["unreal"][role] if not role.endswith(".R") else f"Bone.{i:03}"
             for i, role in enumerate(joints)}
    found = recognise(skeleton(joints, names))
    assert found.roles == names


def test_no_arms_and_no_head():
    joints = without(human(), "clavicle", "upper_arm", "forearm", "hand", "head", "neck")
    found = recognise(skeleton(joints))
    assert not found.missing
    for side in "LR":
        for part in ("thigh", "shin", "foot", "toe"):
            assert found.roles[f"{part}.{side}"] == f"{part}.{side}"
    assert "head" not in found.roles


def test_thighs_that_hang_from_nothing():
    joints = {role: ("" if role.startswith("thigh") else parent, at)
              for role, (parent, at) in human("A").items()}
    found = recognise(skeleton(joints, RIGS["unreal"]))
    for side in "LR":
        assert found.roles[f"thigh.{side}"] == RIGS["unreal"][f"thigh.{side}"]
        assert found.roles[f"foot.{side}"] == RIGS["unreal"][f"foot.{side}"]
    assert found.roles["pelvis"] == "pelvis"


@pytest.mark.parametrize("named", [True, False])
def test_limbs_that_an_export_left_without_parents(named):
    """Only the deforming bones, which hung from controls, were kept."""
    joints = {role: ("" if role.startswith(("pelvis", "thigh", "clavicle")) else parent, at)
              for role, (parent, at) in human("A").items() if role != "root"}
    names = {r: RIGS["unreal"][r] for r in joints} if named else meaningless(joints)
    found = recognise(skeleton(joints, names))
    assert found.roles == {role: names[role] for role in joints}


def test_legs_and_back_side_by_side_under_the_root():
    """Hips that carry the legs only: the spine is no child of theirs."""
    joints = dict(human("A"))
    joints["spine.1"] = ("root", joints["spine.1"][1])
    found = recognise(skeleton(joints, RIGS["unreal"]))
    assert found.roles == RIGS["unreal"]


def test_legs_and_back_under_a_root_on_the_ground():
    """There is no pelvis: the root moves as one."""
    joints = without(human("A"), "pelvis")
    joints = {role: ("root" if parent == "pelvis" else parent, at)
              for role, (parent, at) in joints.items()}
    names = {role: RIGS["mixamo"][role] for role in joints}
    found = recognise(skeleton(joints, names))
    assert found.roles == {"pelvis": names.pop("root"), **names}
    assert not found.missing


@pytest.mark.parametrize("called", ["dress", "bone"])
def test_cloth_that_hangs_to_the_ground_is_no_leg(called):
    joints, names = dict(human("A")), dict(RIGS["unreal"])
    for way in range(6):
        x, y = np.cos((way + 0.5) * np.pi / 3), np.sin((way + 0.5) * np.pi / 3)
        above = "pelvis"
        for i in range(4):
            role = f"cloth{way}.{i}"
            joints[role] = (above, ((0.15 + 0.05 * i) * x, (0.12 + 0.05 * i) * y, 0.95 - 0.235 * i))
            names[role] = f"{called}_{way}{i}"
            above = role
    found = recognise(skeleton(joints, names))
    assert found.body == "BIPED"
    assert {r: b for r, b in found.roles.items() if "tail" not in r} == RIGS["unreal"]


def test_zero_length_bones_and_joints_that_coincide():
    joints = dict(human("A"))
    joints["neck.1"] = ("chest", joints["chest"][1])
    joints["clavicle.L"] = ("chest", joints["chest"][1])
    joints["clavicle.R"] = ("chest", joints["chest"][1])
    given = skeleton(joints, RIGS["collar"], pointing=False)
    flat = Skeleton.of([replace(bone, tail=bone.head) for bone in given.bones])
    found = recognise(flat)
    assert found.roles == RIGS["collar"]


def test_names_with_quotes_brackets_backslashes_and_63_bytes():
    joints = human("A")
    odd = {role: f'{i} "[\\]\' 前足の骨前足の骨前足の骨'.encode()[:63].decode(errors="ignore")
           for i, role in enumerate(joints)}
    assert max(len(name.encode()) for name in odd.values()) <= 63
    found = recognise(skeleton(joints, odd), use_names=False)
    assert found.roles == odd
    assert set(recognise(skeleton(joints, odd)).roles.values()) <= set(odd.values())


def test_long_japanese_names():
    cut = {role: ("キャラクター用の骨組み_" + name).encode()[:63].decode(errors="ignore")
           for role, name in RIGS["mmd"].items()}
    assert recognise(skeleton(human("A"), cut)).roles == cut


def test_equal_names_with_blenders_numbers():
    """A second figure in the same armature: numbered copies of every bone."""
    joints = human("A")
    again = {f"{role}#": (parent and f"{parent}#", (x + 2.0, y, z))
             for role, (parent, (x, y, z)) in joints.items()}
    names = RIGS["unreal"] | {f"{r}#": f"{n}.001" for r, n in RIGS["unreal"].items()}
    found = recognise(skeleton(joints | again, names))
    assert len(set(found.roles.values())) == len(found.roles)
    copies = [bone for bone in found.roles.values() if bone.endswith(".001")]
    assert not copies or len(copies) == len(found.roles)


def test_a_rig_that_has_its_up_by_world_only():
    """A bare chain: the world's up direction decides."""
    bones = [BoneRest(f"B{i}", f"B{i - 1}" if i else "", np.array([0.0, 0.3 * i, 0.0]),
                      np.array([0.0, 0.3 * i + 0.3, 0.0])) for i in range(6)]
    found = recognise(Skeleton.of(bones, upright=np.array([0.0, 1.0, 0.0])))
    assert found.missing >= {"thigh.L", "thigh.R"}
    assert found.roles.get("pelvis")


def test_two_bones_of_one_name_or_a_loop_are_refused():
    a = BoneRest("a", "b", np.zeros(3), np.ones(3))
    with pytest.raises(ValueError, match="own ancestor"):
        Skeleton.of([a, BoneRest("b", "a", np.zeros(3), np.ones(3))])
    with pytest.raises(ValueError, match="two bones are called 'a'"):
        Skeleton.of([replace(a, parent=""), replace(a, parent="")])
    with pytest.raises(ValueError, match="no bone"):
        Skeleton.of([a])


def test_a_crate_with_a_lid():
    """No figure at all: nothing is made up that would look like one."""
    bones = [BoneRest("Base", "", np.zeros(3), np.array([0.0, 0.0, 1.0])),
             BoneRest("Lid", "Base", np.array([0.0, 0.5, 1.0]), np.array([0.0, -0.5, 1.0]))]
    found = recognise(Skeleton.of(bones))
    assert found.missing
    assert not any(role.startswith(("thigh", "hand", "fore")) for role in found.roles)


def test_a_three_legged_dog():
    joints = without(quadruped(), "hind.1.R", "hind.2.R", "hind.3.R", "hind.4.R")
    found = recognise(skeleton(joints))
    assert found.body == "QUADRUPED"
    assert found.missing == {"hind.1.R", "hind.2.R"}


def test_wings_and_a_tail_on_two_legs():
    """A bird: its wings are no arms that reach the ground, its tail is a tail."""
    wings = both({"wing1": ("chest", (0.1, 0.0, 0.4)), "wing2": ("wing1", (0.35, 0.05, 0.42)),
                  "wing3": ("wing2", (0.65, 0.0, 0.42))})
    legs = both({"thigh": ("pelvis", (0.06, 0.0, 0.33)), "shin": ("thigh", (0.06, -0.08, 0.22)),
                 "foot": ("shin", (0.06, 0.03, 0.08)), "toe": ("foot", (0.06, -0.05, 0.01))})
    joints = {
        "pelvis": ("", (0, 0.05, 0.36)), "chest": ("pelvis", (0, -0.1, 0.40)),
        "neck.1": ("chest", (0, -0.18, 0.46)), "head": ("neck.1", (0, -0.22, 0.54)),
        "tail.1": ("pelvis", (0, 0.18, 0.36)), "tail.2": ("tail.1", (0, 0.28, 0.36)),
        **wings, **legs,
    }
    found = recognise(skeleton(joints, meaningless(joints)))
    names = meaningless(joints)
    assert found.body == "BIPED"
    for role in ("pelvis", "head", "tail.1", "thigh.L", "shin.L", "foot.L", "toe.R"):
        assert found.roles[role] == names[role]


def test_random_trees_give_a_map_that_holds_together():
    """Bones anywhere under any names: no error, no bone twice, a rotation for `turn`."""
    random = np.random.default_rng(11)
    words = ["L", "R", "left", "hip", "hand", "spine", "IK", "twist", "tail", "Bone", "足", "_end",
             "root", "head", "toe", ".001", "leg", "arm", "neck"]
    for _ in range(150):
        bones = []
        for number in range(int(random.integers(1, 40))):
            parent = ""
            if number and random.random() < 0.9:
                parent = bones[int(random.integers(number))].name
            name = "".join(random.choice(words, int(random.integers(1, 4)))) + f"_{number}"
            head = np.round(random.normal(size=3), int(random.integers(3)))
            bones.append(BoneRest(name, parent, head, head + 0.1 * random.normal(size=3)))
        skin = {bone.name: 1.0 for bone in bones if random.random() < 0.5}
        given = Skeleton.of(bones, skin, random.normal(size=3))
        found = recognise(given, use_names=bool(random.integers(2)))
        assert len(set(found.roles.values())) == len(found.roles)
        assert all(is_role(role) for role in found.roles)
        assert not found.missing & set(found.roles)
        assert found.unsure <= set(found.roles)
        assert np.linalg.norm(found.turn) == pytest.approx(1.0)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_leg_without_a_partner_is_told_of(count):
    """On a three-, five- or seven-legged body the one in the middle stays as it is."""
    places = [("Hips", "", (0.0, 0.2, 0.5)), ("Chest", "Hips", (0.0, 0.0, 0.5)),
              ("Head", "Chest", (0.0, -0.25, 0.5))]
    ends = {"Hips": (0.0, 0.0, 0.5), "Chest": (0.0, -0.25, 0.5), "Head": (0.0, -0.4, 0.5)}

    def leg(number, side, x, y):
        points = [(x, y, 0.5), (x, y - 0.06, 0.27), (x, y, 0.04), (x, y - 0.06, 0.0)]
        ending = f".{side}" if side else ""
        above = "Hips"
        for k in range(3):
            name = f"Leg{number}_{k}{ending}"
            places.append((name, above, points[k]))
            ends[name], above = points[k + 1], name

    for number in range(count):
        for side, x in (("L", 0.1), ("R", -0.1)):
            leg(number, side, x, -0.2 + 0.35 * number / max(count - 1, 1))
    pairs_only = recognise(Skeleton.of(
        BoneRest(name, above, np.array(at), np.array(ends[name])) for name, above, at in places))
    assert not any("no pair" in note for note in pairs_only.notes)
    leg(count, "", 0.0, 0.3)
    found = recognise(Skeleton.of(
        BoneRest(name, above, np.array(at), np.array(ends[name])) for name, above, at in places))
    told = [note for note in found.notes if "no pair of legs" in note]
    assert len(told) == 1 and told[0].startswith(f"Leg{count}_0 ")
