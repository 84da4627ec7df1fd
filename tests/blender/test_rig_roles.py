# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of roles: found, changed, kept as presets, shared as files."""

import json
import re
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from operators_draw import drawn
from operators_help import activate, load
from own_rigs_help import build
from poise.addon import motions
from poise.addon.errors import UserError
from poise.addon.rigs import roles
from rig_cases import called_by_girdle, human, laid_along, quadruped
from rig_names import RIGS, mixamo
from snapshot import diff, snapshot


@pytest.fixture
def rig(scene):
    return build(human("A"), RIGS["unreal"])


def in_list(obj):
    return {item.role: item.bone for item in obj.poise.roles}


def test_found_and_read_by_scripts(rig):
    assert bpy.ops.poise.rig_roles_find() == {"FINISHED"}
    assert in_list(rig) == RIGS["unreal"]
    assert rig.poise.roles["thigh.L"].bone == "thigh_l"
    settings = rig.poise.settings
    assert (settings.rig_kind, settings.rig_body) == ("UNREAL", "BIPED")
    # From the pelvis down to the toes, then the other side: the animator's order.
    order = [item.role for item in rig.poise.roles]
    assert order.index("pelvis") < order.index("head") < order.index("hand.L")
    found = roles.role_map(rig, settings)
    assert found.roles == RIGS["unreal"] and not found.missing


def test_nothing_of_the_rig_is_touched(rig):
    bones = [(b.name, tuple(b.head_local), tuple(b.tail_local)) for b in rig.data.bones]
    bpy.ops.poise.rig_roles_find()
    assert [(b.name, tuple(b.head_local), tuple(b.tail_local)) for b in rig.data.bones] == bones
    assert not rig.animation_data and not rig.data.keys()
    assert set(rig.keys()) <= {"poise"}  # an empty group, which drawing a panel makes too
    assert not any(len(bone.constraints) for bone in rig.pose.bones)


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (-np.pi / 2, 0.0, 0.0), (0.0, 0.3, 2.0)])
def test_a_motion_stands_and_faces_as_the_rig_does(scene, turn):
    """Bones that lie in any direction: what is found of the figure tells, not the object's axes."""
    axes = np.array(Euler(turn).to_matrix())
    joints = {role: (parent, axes @ (np.array(at) + (0.4, 0.3, 0.2)))
              for role, (parent, at) in human("A").items()}
    obj = build(joints, RIGS["unreal"])
    obj.matrix_world = Matrix(axes.T.tolist()).to_4x4()
    obj.location = (5.0, 6.0, 0.0)
    bpy.context.view_layer.update()
    bpy.ops.poise.rig_roles_find()
    motion = obj.poise.motion_object
    assert abs(motion.rotation_euler.z) < 0.05, "it faces -Y"
    feet = [obj.matrix_world @ obj.data.bones[f"foot_{s}"].head_local for s in "lr"]
    middle = 0.5 * (feet[0] + feet[1])
    # Up is found from the figure, too: within some degrees.
    assert (motion.location - middle).to_2d().length < 0.02
    assert motion.location.z < min(foot.z for foot in feet)


def test_a_bone_is_changed_by_picking_it(rig):
    bpy.ops.poise.rig_roles_find()
    item = rig.poise.roles["toe.L"]
    item.unsure = True
    item.bone = "hand_r"
    assert not item.unsure
    with pytest.raises(UserError, match="two roles, .*hand.R and toe.L"):
        roles.role_map(rig, rig.poise.settings)
    item.bone = ""
    assert "toe.L" not in roles.role_map(rig, rig.poise.settings).roles
    rig.poise.roles["foot.L"].bone = ""
    assert roles.role_map(rig, rig.poise.settings).missing == {"foot.L"}


def test_find_again_keeps_picked_bones_when_asked(rig):
    bpy.ops.poise.rig_roles_find()
    rig.poise.roles["hand.L"].bone = "ball_r"
    rig.poise.roles["toe.R"].bone = ""
    bpy.ops.poise.rig_roles_find(keep=True)
    assert rig.poise.roles["hand.L"].bone == "ball_r"
    assert rig.poise.roles["shin.R"].bone == "calf_r"
    bpy.ops.poise.rig_roles_find()
    assert in_list(rig) == RIGS["unreal"]


def test_missing_roles_stand_in_the_list_and_are_said(scene):
    joints = {role: at for role, at in human("A").items() if not role.startswith("foot.R")
              and not role.startswith("toe.R")}
    rig = build(joints, RIGS["unreal"])
    bpy.ops.poise.rig_roles_find()
    assert rig.poise.roles["foot.R"].bone == ""
    said = " ".join(text for texts in drawn().values() for text in texts)
    assert "Pick a bone for foot.R" in said


def test_roles_are_added_and_removed(rig):
    bpy.ops.poise.rig_roles_find()
    bpy.ops.poise.rig_role_add(role="eye.L", bone="head")
    assert rig.poise.roles["eye.L"].bone == "head"
    bpy.ops.poise.rig_role_remove(role="eye.L")
    assert "eye.L" not in rig.poise.roles
    for wrong in ({"role": "wing.L"}, {"role": "eye.L", "bone": "nobody"}):
        with pytest.raises(RuntimeError, match="no role|no bone"):
            bpy.ops.poise.rig_role_add(**wrong)
    with pytest.raises(RuntimeError, match="no role 'tail.9'"):
        bpy.ops.poise.rig_role_remove(role="tail.9")


def test_a_bone_that_is_gone_is_named(rig):
    bpy.ops.poise.rig_roles_find()
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["ball_l"])
    with pytest.raises(RuntimeError, match="leave Edit Mode"):
        bpy.ops.poise.rig_roles_find()
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(UserError, match="no bone 'ball_l' for toe.L"):
        roles.role_map(rig, rig.poise.settings)


def test_file_to_another_rig_with_another_prefix(scene, tmp_path):
    first = build(human("A"), mixamo("mixamorig:"), "First")
    bpy.ops.poise.rig_roles_find()
    path = tmp_path / "役割"
    bpy.ops.poise.rig_roles_export(filepath=str(path))
    data = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert data["schema"] == "poise.rig_roles" and data["version"] == 1
    assert data["roles"]["thigh.L"] == "mixamorig:LeftUpLeg"
    second = build(human("T"), mixamo("mixamorig9:"), "Second")
    bpy.ops.poise.rig_roles_import(filepath=str(path.with_suffix(".json")))
    assert in_list(second) == mixamo("mixamorig9:")
    assert in_list(first) == mixamo("mixamorig:")


@pytest.mark.parametrize(
    ("text", "says"),
    [(b"import os", "no JSON"), (b"\xff\xfe\x00", "no text"), (b"{}", "no role map"),
     (b'{"schema": "poise.rig_roles", "version": 1, "body": "BIPED", "roles": {"head": "?"}}',
      "fits no bone")],
)
def test_bad_file_changes_nothing(rig, tmp_path, text, says):
    path = tmp_path / "roles.json"
    path.write_bytes(text)
    before = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.poise.rig_roles_import(filepath=str(path))
    assert len(bpy.data.objects) == before
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.poise.rig_roles_import(filepath=str(tmp_path / "nowhere.json"))


def test_presets(rig):
    bpy.ops.poise.rig_roles_find()
    rig.poise.roles["toe.L"].bone = ""
    bpy.ops.poise.rig_roles_save(name="My Game")
    name = next(name for name in roles.presets() if name.startswith("My"))
    try:
        bpy.ops.poise.rig_roles_find()
        assert rig.poise.roles["toe.L"].bone == "ball_l"
        bpy.ops.poise.rig_roles_load(name="My Game")
        assert "toe.L" not in rig.poise.roles
        assert any("rig_roles" in name for name in drawn())
    finally:
        bpy.ops.poise.rig_roles_delete(name=name)
    assert name not in roles.presets()
    with pytest.raises(RuntimeError, match="no preset of roles"):
        bpy.ops.poise.rig_roles_load(name="My Game")


def test_a_second_motion_has_the_same_roles(rig):
    bpy.ops.poise.rig_roles_find()
    rig.poise.roles["toe.L"].bone = "hand_l"
    before = in_list(rig)
    motions.add_motion(bpy.context, rig)
    assert len(motions.motions_of(rig)) == 2
    assert in_list(rig) == before


def test_survives_saving_and_loading(rig, tmp_path):
    bpy.ops.poise.rig_roles_find()
    rig.poise.roles["head"].unsure = True
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = bpy.data.objects["Rig"]
    assert in_list(again) == RIGS["unreal"]
    assert again.poise.roles["head"].unsure


def test_undo_takes_the_roles_back(rig):
    bpy.ops.ed.undo_push(message="built")
    bpy.ops.poise.rig_roles_find("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert motions.active_motion(rig) is None


def stood(obj):
    """Whether Stand Up has taken a pose: where the head is above the pelvis in it, in units."""
    motion = motions.active_motion(obj)
    places = roles.places_of(motion.poise_motion) if motion is not None else {}
    return places["head"][2] - places["pelvis"][2] if places else None


def test_stand_up_is_one_step_back_and_can_be_done_otherwise(scene):
    """By names where it has no clip; F9 undoes it and runs it again with another pose."""
    joints = laid_along(human("A"), (0, 1, 0))
    rig = build(joints, RIGS["unreal"])
    before = snapshot()
    bpy.ops.ed.undo_push(message="built")
    assert bpy.ops.poise.rig_stand_up("EXEC_DEFAULT", True) == {"FINISHED"}
    rig = bpy.data.objects["Rig"]
    assert stood(rig) > 0.5 and in_list(rig) == RIGS["unreal"]
    bpy.ops.ed.undo()
    assert diff(before, snapshot()) == []
    rig = bpy.data.objects["Rig"]
    assert bpy.ops.poise.rig_stand_up("EXEC_DEFAULT", True, pose="REST") == {"FINISHED"}
    assert stood(rig) is None and rig.poise.settings.rig_fallen
    bpy.ops.ed.undo()
    assert diff(before, snapshot()) == []
    rig = bpy.data.objects["Rig"]
    with pytest.raises(RuntimeError, match="does not stand at frame 7"):
        bpy.ops.poise.rig_stand_up("EXEC_DEFAULT", True, frame=7)
    assert diff(before, snapshot()) == []
    assert bpy.ops.poise.rig_stand_up("EXEC_DEFAULT", True) == {"FINISHED"}
    assert stood(rig) > 0.5, "what was chosen before is not what a click begins with"


def test_an_animal_along_one_axis_stands_up_and_walks(scene):
    """All bones along +Y, and no clip: it is set up, and the lowest of its feet stays down."""
    rig = build(laid_along(quadruped(), (0, 1, 0)), called_by_girdle(quadruped()))
    with pytest.raises(RuntimeError, match="no standing figure.*names say"):
        bpy.ops.poise.rig_setup(kind="DOG")
    bpy.ops.poise.rig_stand_up()
    assert in_list(rig) == called_by_girdle(quadruped())
    assert bpy.ops.poise.rig_setup(kind="DOG") == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = motion.poise_motion.frame_start + 24
    bpy.ops.poise.bake()
    bpy.ops.poise.bake_to_bones()
    feet = [bone for role, bone in in_list(rig).items() if re.match(r"(fore|hind).4", role)]
    heights = []
    for frame in range(1, 25, 3):
        scene.frame_set(frame)
        heights.append([(rig.matrix_world @ rig.pose.bones[name].head).z for name in feet])
        shoulder = rig.matrix_world @ rig.pose.bones["FrontUpperLeg.L"].head
        assert shoulder.z > 0.35, "the trunk is carried"
    lowest = np.min(heights, axis=1)
    assert -0.01 < lowest.min() and lowest.max() < 0.06
    assert np.min(heights, axis=0).max() < 0.06 < np.max(heights), "all are set down, and swing"


def test_a_quadruped_that_was_scaled_and_turned(scene):
    rig = build(quadruped(), {role: role.replace(".", "_") for role in quadruped()})
    rig.scale = (0.01,) * 3
    rig.rotation_euler = (1.5708, 0.0, 0.4)
    bpy.context.view_layer.update()
    bpy.ops.poise.rig_roles_find()
    assert rig.poise.settings.rig_body == "QUADRUPED"
    assert rig.poise.roles["fore.1.L"].bone == "fore_1_L"


def test_an_overridden_rig_keeps_its_roles_on_the_motion(scene, tmp_path):
    rig = build(human("A"), RIGS["unreal"])
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_from, to):
        to.objects = ["Rig"]
    linked = to.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    activate(linked)
    with pytest.raises(RuntimeError, match="library override"):
        bpy.ops.poise.rig_roles_find()
    rig = linked.override_create(remap_local_usages=True)
    activate(rig)
    bpy.ops.poise.rig_roles_find()
    assert in_list(rig) == RIGS["unreal"]
    own = str(tmp_path / "own.blend")
    bpy.ops.wm.save_as_mainfile(filepath=own)
    bpy.ops.wm.open_mainfile(filepath=own)
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.override_library)
    assert in_list(rig) == RIGS["unreal"]


def test_poises_own_characters_have_no_list(scene):
    load()
    assert not bpy.ops.poise.rig_roles_find.poll()
    assert "POISE_PT_character_roles" not in drawn()


def test_a_role_by_hand_is_added_to_what_is_recognised(rig):
    bpy.ops.poise.rig_role_add(role="eye.L", bone="ball_l")
    assert in_list(rig) == RIGS["unreal"] | {"eye.L": "ball_l", "toe.L": ""}
    # A role that was only recognised gives its bone to the one picked: none has two.
    assert roles.role_map(rig, rig.poise.settings).roles["eye.L"] == "ball_l"
    bpy.ops.poise.rig_roles_find(keep=True)
    assert rig.poise.roles["eye.L"].bone == "ball_l"


def test_legs_picked_among_four_make_a_person_in_one_step(scene):
    """A coat hangs to the ground: the refusal says which roles to add, and that is all."""
    joints = dict(human("A"))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        above = "pelvis"
        for number, z in enumerate((0.93, 0.5, 0.1, 0.04)):
            joints[f"c{number}.{side}"] = (above, (sign * 0.2, 0.14 - 0.1 * (number == 3), z))
            above = f"c{number}.{side}"
    rig = build(joints, {role: f"Bone.{number:03}" for number, role in enumerate(joints)})
    names = {role: f"Bone.{number:03}" for number, role in enumerate(joints)}
    with pytest.raises(RuntimeError, match="add the roles thigh, shin and foot of both"):
        bpy.ops.poise.rig_setup(kind="BIPED")
    for role in ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"):
        bpy.ops.poise.rig_role_add(role=role, bone=names[role])
    assert bpy.ops.poise.rig_setup(kind="BIPED") == {"FINISHED"}
    assert in_list(rig).items() >= {role: names[role] for role in human()}.items()
    assert rig.poise.settings.rig_body == "BIPED"


def test_a_meta_rig_that_was_not_generated_is_told_once(scene, capfd):
    rig = build(human("A"), RIGS["metarig"])
    rig.pose.bones["thigh.L"]["rigify_type"] = "limbs.leg"
    bpy.ops.poise.rig_roles_find()
    said = " ".join(text for texts in drawn().values() for text in texts)
    assert said.count("click Generate Rig") == 1
    capfd.readouterr()
    bpy.ops.poise.rig_setup(kind="BIPED")
    assert capfd.readouterr().out.count("click Generate Rig") == 1
