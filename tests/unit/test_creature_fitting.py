# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals' rigs of other people read as figures on legs."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import rig_cases
from poise.addon.rigs.creature_fitting import read_creature
from poise.addon.rigs.recognise.recognition import recognise
from poise.addon.rigs.recognise.rolemap import RoleMap

TAIL = [f"tail.{number}" for number in range(1, 5)]


def read(skeleton):
    found = recognise(skeleton)
    assert [found.roles[role] for role in TAIL] == TAIL
    return read_creature(skeleton, found, 1.0, "DOG").figure


def towards_the_body(given):
    """The same with the bones of the tail from its tip to the pelvis, as a spine that begins
    there has them."""
    ends = {bone.name: (bone.head, bone.tail) for bone in given.bones}
    bones = []
    for bone in given.bones:
        if bone.name in TAIL:
            head, tail = ends[bone.name]
            bone = replace(bone, head=tail, tail=head)
        bones.append(bone)
    return type(given).of(bones)


def test_a_tail_has_its_joints_where_it_bends_whichever_way_its_bones_run():
    joints = rig_cases.quadruped()
    given = rig_cases.skeleton(joints)
    straight, turned = read(given), read(towards_the_body(given))
    base = straight.joints["pelvis"] - np.array(joints["pelvis"][1])
    for role in (*TAIL, "tail_tip"):
        assert turned.joints[role] == pytest.approx(straight.joints[role], abs=1e-9)
    for role in TAIL:
        assert straight.joints[role] - base == pytest.approx(joints[role][1], abs=1e-9)


def test_ends_that_an_importer_made_up_tell_nothing_about_a_tail():
    # All bones end behind their heads, nearer to the pelvis or not.
    joints = rig_cases.quadruped()
    straight = read(rig_cases.skeleton(joints))
    for pointing, length in ((False, 1.0), (False, -1.5)):
        given = rig_cases.skeleton(joints, pointing=pointing)
        bones = [replace(b, tail=b.head + length * (b.tail - b.head)) for b in given.bones]
        made_up = read(type(given).of(bones))
        for role in TAIL:
            assert made_up.joints[role] - made_up.joints["pelvis"] == pytest.approx(
                straight.joints[role] - straight.joints["pelvis"], abs=1e-9
            )


@pytest.mark.parametrize("first", [0.04, 0.08, 0.3])
def test_legs_of_two_bones_stand_on_the_end_of_the_second(first):
    """However short the first is: a foot was put under the joint between them, 0.5 m beside."""
    joints = {role: at for role, at in rig_cases.insect(3).items() if not role.startswith("leg")}
    ends = {}
    for number, ahead in ((1, -0.25), (2, 0.0), (3, 0.25)):
        for side, x in (("L", 1.0), ("R", -1.0)):
            upper, lower = (f"leg{number}.{part}.{side}" for part in (1, 2))
            joints[upper] = "pelvis", (0.08 * x, ahead, 0.2)
            joints[lower] = upper, ((0.08 + first) * x, ahead, 0.22)
            ends[lower] = np.array(((0.6 + first) * x, 1.5 * ahead, 0.0))
    given = rig_cases.skeleton(joints)
    bones = [replace(bone, tail=ends.get(bone.name, bone.tail)) for bone in given.bones]
    given = type(given).of(bones)
    roles = RoleMap("STRUCTURE", "LEGS", {role: role for role in joints})
    figure = read_creature(given, roles, 1.0, "INSECT").figure
    assert len(figure.legs) == 6
    for leg in figure.legs:
        role = leg.segments[-1]
        shift = figure.joints[role] - np.array(joints[role][1])
        assert figure.joints[leg.tip] == pytest.approx(ends[role] + shift, abs=1e-9)
        assert figure.joints[leg.tip][2] == pytest.approx(0.0, abs=1e-9)
