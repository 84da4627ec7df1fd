# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that are named, posed, shaped or used in odd ways: the right motion, or one sentence.

Expected places are those of the targets of Poise's controls, as in the tests of
rigs that are as they should be.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from poise.addon import pipeline
from poise.addon.families.gait import view as gait_view
from poise.addon.families.riding import view as riding_view
from poise.addon.motions import set_active
from snapshot import diff, snapshot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import rig_cases
from own_rigs_help import NOISE, build, followers, human, leg_length, set_up, worst_off
from rig_names import RIGS

SIDES = {"L": "Left", "R": "Right"}


def goes_all_the_way(poise, kind="SKIER", frames=13):
    """Set the active rig up, bake it, take Poise off: it was right, and is as it was before."""
    rig = bpy.context.view_layer.objects.active
    rig.select_set(True)
    before = snapshot()
    rig, controls, motion = set_up(kind, frames)
    known = followers(poise, controls)
    size = controls.matrix_world.to_scale().x
    allowed = max(1e-3, 1e-3 * leg_length(controls) * size)
    bpy.ops.poise.bake()
    for step in ("it follows", "it is baked"):
        far, turned = worst_off(rig, controls, known, (1, 7, frames))
        assert far <= allowed, step
        assert turned <= np.radians(0.1), step
        bpy.ops.poise.bake_to_bones()
        assert not [p.message for p in motion.poise_motion.problems if p.code.endswith("_OFF")]
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []
    return known


def renamed(names):
    """A plain human whose bones have other names."""
    rig = human()
    for bone in rig.data.bones:
        bone.name = names(bone.name)
    return rig


CJK = {
    "Hips": "腰", "Spine": "背骨下", "Chest": "胸", "Neck": "首", "Head": "頭", "Shoulder": "肩",
    "Arm": "腕", "ForeArm": "前腕", "Hand": "手", "UpLeg": "腿", "Leg": "脛", "Foot": "足",
    "ToeBase": "爪先",
}


def cjk(name):
    """Japanese, made as long as Blender's 63 bytes allow."""
    side = next((s for s in ("Left", "Right") if name.startswith(s)), "")
    text = {"Left": "左", "Right": "右", "": ""}[side] + CJK[name.removeprefix(side)]
    return text + "骨" * (21 - len(text))


NAMES = {
    "quotes": lambda name: f'the "{name}"',
    "brackets": lambda name: f'{name}["x"].y',
    "backslashes": lambda name: f"C:\\rigs\\{name}",
    "japanese": cjk,
    "one name": lambda name: "Bone",
    "no sides": lambda name: name.replace("Left", "A").replace("Right", "B"),
    "one side": lambda name: name.replace("Right", "Bone"),
}


@pytest.mark.parametrize("case", NAMES)
def test_whatever_bones_are_called(poise, scene, case):
    """Escaped in paths, cut at 63 bytes, numbered by Blender: bones stay the same bones."""
    rig = renamed(NAMES[case])
    assert len({bone.name for bone in rig.data.bones}) == len(rig.data.bones)
    assert max(len(bone.name.encode()) for bone in rig.data.bones) <= 63
    known = goes_all_the_way(poise)
    assert {"pelvis", "head", "foot.L", "foot.R", "hand.L", "hand.R"} <= set(known)


@pytest.mark.parametrize("engine", ["unreal", "vrm", "vroid", "mixamo numbered", "metarig"])
@pytest.mark.parametrize("pose", ["A", "S"])
def test_skeletons_of_engines_in_other_poses_than_t(poise, scene, engine, pose):
    """With arms down, and seated: bones all point up, as an importer that knows no tails has it."""
    if pose == "S" and engine != "unreal":
        pytest.skip("seated rest poses do not depend on names")
    build(rig_cases.human(pose, fingers=True, twists=True), Named(RIGS[engine]))
    known = goes_all_the_way(poise, "CYCLIST" if engine == "vrm" else "SKIER")
    assert {bone for role, (bone, _) in known.items() if role.startswith("thigh")} == {
        RIGS[engine]["thigh.L"], RIGS[engine]["thigh.R"]
    }


class Named(dict):
    """Names of a skeleton; fingers and twists are called after what they are."""

    def __missing__(self, role):
        return f"x_{role.replace('.', '_')}"


def test_bones_of_hardly_any_length(poise, scene):
    """Blender drops bones without length; what an importer leaves is a hair's breadth long."""
    rig = human()
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("Head", "LeftHand", "RightToeBase"):
        bone = rig.data.edit_bones[name]
        bone.tail = bone.head + (bone.tail - bone.head).normalized() * 2e-5
    bpy.ops.object.mode_set(mode="OBJECT")
    known = goes_all_the_way(poise)
    assert {"head", "hand.L", "toe.R"} <= set(known)


def without(*endings):
    rig = human()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in [b for b in rig.data.edit_bones if b.name.endswith(endings)]:
        rig.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def scaled(*scale):
    rig = human()
    rig.scale = scale
    return rig


def sheared():
    rig = human()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    parent.scale = (1.0, 1.0, 2.0)
    rig.parent = parent
    rig.rotation_euler = (0.6, 0.0, 0.0)
    return rig


def pinched():
    """Both thighs are hardly any length: knees in the hips."""
    rig = human()
    bpy.ops.object.mode_set(mode="EDIT")
    for side in SIDES.values():
        thigh, shin = (rig.data.edit_bones[f"{side}{part}"] for part in ("UpLeg", "Leg"))
        thigh.tail = thigh.head + thigh.vector * 1e-5
        shin.head = thigh.tail
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


REFUSED = {
    "no legs": (lambda: without("UpLeg", "Leg", "Foot", "ToeBase"), "leg|thigh"),
    "one leg": (lambda: without("RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"),
                "leg|thigh"),
    "no bones": (lambda: without(""), "has no bones"),
    "mirrored": (lambda: scaled(-1, 1, 1), "mirrored by a negative scale"),
    "uneven": (lambda: scaled(1, 1, 2), "scaled unevenly"),
    "sheared": (sheared, "sheared|unevenly"),
    "knees in the hips": (pinched, "A leg of the rig has no length"),
    "zero": (lambda: scaled(0, 0, 0), "scaled to zero"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_carries_no_skier_is_refused_in_one_sentence(poise, scene, case):
    make, match = REFUSED[case]
    make()
    bpy.context.view_layer.update()
    before = snapshot()
    with pytest.raises(RuntimeError, match=match) as caught:
        bpy.ops.poise.rig_setup(kind="SKIER")
    assert len(str(caught.value).strip().splitlines()) == 1
    assert diff(before, snapshot(), NOISE) == []


def test_a_scale_that_was_spoilt_after_set_up_is_named(poise, scene):
    rig = human()
    rig, controls, _ = set_up("SKIER", 5)
    rig.scale.x = -1.0
    with pytest.raises(RuntimeError, match="mirrored"):
        bpy.ops.poise.bake_to_bones()
    assert any(bone.constraints for bone in rig.pose.bones), "it follows still"


def test_a_mesh_on_two_armatures_brings_the_first_one_that_is_there(poise, scene):
    """Its modifiers may name a rig and a helper; one of them may be gone."""
    rig, other = human("Body"), human("Helper")
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.collection.objects.link(mesh)
    for target in (None, rig, other):
        mesh.modifiers.new("Armature", "ARMATURE").object = target
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = mesh
    assert bpy.ops.poise.rig_setup(kind="SKIER") == {"FINISHED"}
    assert rig.poise.motion_object is not None and other.poise.motion_object is None
    assert not any(bone.constraints for bone in other.pose.bones)
    bpy.context.view_layer.objects.active = mesh
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert rig.animation_data.action is not None and other.animation_data is None


def test_a_rig_without_arms_or_with_one_skis_with_what_it_has(poise, scene):
    arms = ("Shoulder", "Arm", "Hand")
    without(*(f"Right{part}" for part in ("Shoulder", "Arm", "ForeArm", "Hand")))
    known = goes_all_the_way(poise)
    assert "hand.L" in known and "hand.R" not in known
    without(*arms)
    known = goes_all_the_way(poise)
    assert not any(role.startswith(("hand", "upper_arm", "clavicle")) for role in known)


@pytest.mark.parametrize(("kind", "lacking", "says"), [
    ("SKIER", ("Left", "Right"), "it has no arms, so no pole is carried"),
    ("TELEMARK", ("Right",), "it has no right arm, so no pole is carried on that side"),
    ("CYCLIST", ("Left", "Right"), "it has no arms, so no hand is on the handlebars"),
    ("SKIER", (), ""), ("BIPED", ("Left", "Right"), ""),
])
def test_who_has_no_arms_carries_no_poles_and_is_told_once(
    poise, scene, kind, lacking, says, capfd
):
    if lacking:
        without(*(f"{side}{part}" for side in lacking
                  for part in ("Shoulder", "Arm", "ForeArm", "Hand")))
    else:
        human()
    rig, controls, motion = set_up(kind, 9)
    bpy.ops.poise.bake()
    said = capfd.readouterr().out
    assert said.count("it has no") == bool(says) and says in said
    assert not any("arm" in p.message or "hand" in p.message for p in motion.poise_motion.problems)
    # Nor are they drawn: with arms, the ghost has a line for each arm and for each pole.
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    view = gait_view if kind == "BIPED" else riding_view
    given = (solved.tracks, solved.motion) if kind == "BIPED" else (solved.tracks,)
    drawn = [view.figure_lines(*given, solved.job.figure, 0, sides)
             for sides in ((), solved.job.armless)]
    arms, bare = (lines if kind == "BIPED" else lines[0] for lines in drawn)
    each = 2 if kind in ("SKIER", "TELEMARK") else 1
    assert len(arms) - len(bare) == each * len(lacking)
    masked = {m.vertex_group for obj in bpy.data.objects if obj.parent == controls
              for m in obj.modifiers if m.type == "MASK"}
    poles = {f"DEF-pole.{side[0]}" for side in lacking} if "pole" in says else set()
    assert masked == poles
    # Set up anew it is the same.
    bpy.context.view_layer.objects.active = rig
    bpy.ops.poise.rig_setup(kind=kind)
    controls = rig.poise.motion_object.poise_motion.character
    assert {m.vertex_group for obj in bpy.data.objects if obj.parent == controls
            for m in obj.modifiers if m.type == "MASK"} == poles


def hung(rig, table):
    """Hang bones of a rig on others; bones without one go."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, above in table.items():
        if above:
            bones[name].parent = bones[above]
        else:
            bones.remove(bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(
    "table",
    [
        # One bone from the hips to the neck, no clavicles: as rigs made by hand often are.
        {"Chest": "Hips", "Spine": "", "LeftArm": "Chest", "RightArm": "Chest",
         "LeftShoulder": "", "RightShoulder": ""},
        # 3ds Max's Biped.
        {f"{side}{bone}": above for side in ("Left", "Right")
         for bone, above in (("UpLeg", "Spine"), ("Shoulder", "Neck"))},
    ],
    ids=["one bone for the back", "legs on the spine"],
)
def test_limbs_begin_where_the_rig_has_them(poise, scene, table):
    hung(human(), table)
    known = goes_all_the_way(poise)
    assert known["pelvis"][0] == "Hips" and known["chest"][0] == "Chest"
    assert {"upper_arm.L", "hand.R", "thigh.L"} <= set(known)


def with_ik():
    """A human with IK on legs and an arm, and a spine that stretches to an empty."""
    rig = human()
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("Root")
    root.tail = (0.0, 0.2, 0.0)
    rig.data.edit_bones["Hips"].parent = root
    for name in ("LeftFoot", "RightFoot", "LeftHand"):
        bone = rig.data.edit_bones.new(f"IK {name}")
        bone.head = rig.data.edit_bones[name].head
        bone.tail = bone.head + Vector((0.0, 0.1, 0.0))
        bone.parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    for end in ("LeftLeg", "RightLeg", "LeftForeArm"):
        constraint = rig.pose.bones[end].constraints.new("IK")
        constraint.target, constraint.chain_count = rig, 2
        constraint.subtarget = "IK " + end.replace("ForeArm", "Hand").replace("Leg", "Foot")
    above = bpy.data.objects.new("Above", None)
    bpy.context.collection.objects.link(above)
    above.location = (0.0, 0.2, 1.5)
    rig.pose.bones["Spine"].constraints.new("STRETCH_TO").target = above
    bpy.context.view_layer.update()
    return rig


def test_ik_of_the_rig_rests_and_is_brought_back(poise, scene):
    """Blender solves IK after what else turns the bones: feet stayed by their controls."""
    rig = with_ik()
    goes_all_the_way(poise)
    assert all(c.influence == 1.0 for bone in rig.pose.bones for c in bone.constraints)


def test_ik_that_a_driver_switches_on_or_itasc_solves_is_named(poise, scene):
    rig = with_ik()
    switch = rig.pose.bones["LeftLeg"].constraints[0].driver_add("influence").driver
    switch.expression = "1.0"
    bpy.context.view_layer.update()
    before = snapshot()
    with pytest.raises(RuntimeError, match="driver sets the influence of IK on bone LeftLeg"):
        bpy.ops.poise.rig_setup(kind="SKIER")
    assert diff(before, snapshot(), NOISE) == []
    rig.animation_data.drivers[0].mute = True
    rig.pose.ik_solver = "ITASC"
    with pytest.raises(RuntimeError, match="iTaSC"):
        bpy.ops.poise.rig_setup(kind="SKIER")


def test_rest_position_is_named_once(poise, scene):
    """Not every bone as one that does not follow."""
    rig = human()
    rig.data.pose_position = "REST"
    _, controls, motion = set_up("SKIER", 13)
    for bake in (bpy.ops.poise.bake, bpy.ops.poise.bake_to_bones):
        bake()
        # What bones do between their keys is told of any skeleton.
        codes = [p.code for p in motion.poise_motion.problems if p.code != "BETWEEN_KEYS"]
        assert codes == ["REST_POSITION"]
    rig.data.pose_position = "POSE"
    assert worst_off(rig, controls, followers(poise, controls), (1, 7, 13))[0] <= 1e-3


def test_a_copy_of_a_rig_that_was_set_up_is_a_rig_of_its_own(poise, scene):
    """It comes with the original's constraints on Poise's controls, and its IK at rest."""
    rig = with_ik()
    _, first, _ = set_up("SKIER", 13)
    copy = rig.copy()
    scene.collection.objects.link(copy)
    for obj in (rig, copy):
        obj.select_set(obj == copy)
    bpy.context.view_layer.objects.active = copy
    _, controls, _ = set_up("SNOWBOARDER", 13)
    bpy.ops.poise.bake_to_bones()
    for obj, ours in ((copy, controls), (rig, first)):
        assert worst_off(obj, ours, followers(poise, ours), (1, 13))[0] <= 1e-3
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    assert all(c.influence == 1.0 for bone in copy.pose.bones for c in bone.constraints)
    assert not [c for bone in copy.pose.bones for c in bone.constraints if c.name == "Poise"]


def test_a_bone_that_is_renamed_after_set_up_is_named(poise, scene):
    rig = human()
    set_up("SKIER", 13)
    bpy.ops.poise.bake()
    rig.data.bones["LeftLeg"].name = "Lower leg"
    with pytest.raises(RuntimeError, match="no bone LeftLeg any more") as refused:
        bpy.ops.poise.bake_to_bones()
    assert "Traceback" not in str(refused.value)


@pytest.mark.parametrize(
    ("bone", "how"),
    [("TGT-shin.L", "renamed"), ("hand.R", "renamed"), ("CHN-chest", "renamed"),
     ("CHN-upper_arm.L", "removed"), ("TGT-pelvis", "removed")],
)
def test_a_bone_that_the_controls_lost_is_named(poise, scene, bone, how):
    """Without it the rig would be keyed elsewhere than the controls bring it."""
    rig = human()
    _, controls, _ = set_up("SKIER", 5)
    bpy.ops.poise.bake()
    if how == "renamed":
        controls.data.bones[bone].name = "Mine"
    else:
        for obj in (rig, controls):
            obj.select_set(obj == controls)
        bpy.context.view_layer.objects.active = controls
        bpy.ops.object.mode_set(mode="EDIT")
        controls.data.edit_bones.remove(controls.data.edit_bones[bone])
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig
    before = snapshot()
    with pytest.raises(RuntimeError, match=f"has no bone {bone} any more") as refused:
        bpy.ops.poise.bake_to_bones()
    assert "Traceback" not in str(refused.value)
    assert diff(before, snapshot(), NOISE) == []
    bpy.ops.poise.rig_setup(kind="SKIER")
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}


# What deleted objects were made of: Blender keeps it until the file is saved.
ORPHANS = (r"^(meshes|materials)\[", r"^(armatures|actions)\['Human Controls", r"\['WGT-poise-")


def delete(how, controls, motion, tmp_path):
    """As animators and scripts do; what the former leave is in no scene, but still in the file
    until it is saved and loaded."""
    doomed = [controls, motion] if "both" in how else [controls]
    if how == "script":
        bpy.data.objects.remove(controls)
    for obj in bpy.context.view_layer.objects if how != "script" else ():
        obj.select_set(obj in doomed or obj.parent in doomed)
    if how != "script":
        bpy.ops.object.delete()
    if "loaded" in how:
        path = str(tmp_path / "shot.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Human"]


@pytest.mark.parametrize("how", ["deleted", "script", "both", "both, loaded"])
@pytest.mark.parametrize("baked", [False, True])
def test_what_deleted_controls_left_goes_from_the_rig_alone(poise, scene, tmp_path, how, baked):
    rig = with_ik()
    rig.pose.bones["LeftLeg"].constraints["IK"].influence = 0.75
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "before.blend"))
    rig = bpy.data.objects["Human"]
    before = snapshot()
    ski = bpy.data.objects.new("My Ski", bpy.data.meshes.new("My Ski"))
    ski.data.from_pydata([(0, -1, 0), (0, 1, 0), (0.1, 0, 0), (0, 0, 0.1)], [], [(0, 1, 2)])
    scene = bpy.context.scene
    scene.collection.objects.link(ski)
    rig, controls, motion = set_up("SKIER", 5)
    bpy.ops.poise.equipment_attach(role="ski.L", object=ski.name)
    bpy.ops.poise.bake()
    if baked:
        bpy.ops.poise.bake_to_bones()
    rig = delete(how, controls, motion, tmp_path)
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == rig)
    bpy.context.view_layer.objects.active = rig
    if baked and "loaded" in how:
        # Nothing knows of the bake any more: the action is the animator's own.
        assert not bpy.ops.poise.rig_remove.poll()
        bpy.data.actions.remove(rig.animation_data.action)
        return
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    assert not bpy.ops.poise.rig_remove.poll()
    assert not any(c.name.startswith("Poise") for b in rig.pose.bones for c in b.constraints)
    if not (baked and "both" in how):
        assert rig.pose.bones["LeftLeg"].constraints["IK"].influence == 0.75
    ski = bpy.data.objects["My Ski"]
    assert not ski.constraints
    bpy.data.meshes.remove(ski.data)
    if not (baked and "both" in how):
        assert diff(before, snapshot(), (*NOISE, "session_uid", *ORPHANS)) == []


def test_a_rig_whose_controls_were_deleted_is_set_up_anew_with_its_motions(poise, scene):
    rig = with_ik()
    before = snapshot()
    rig, controls, motion = set_up("SKIER", 5)
    bpy.ops.poise.bake_to_bones()
    bpy.data.objects.remove(controls)
    bpy.context.view_layer.update()
    rig, controls, again = set_up("SKIER", 5)
    assert again == motion
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert worst_off(rig, controls, followers(poise, controls), (1, 5))[0] <= 1e-3
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    for obj in [o for o in bpy.data.objects if "poise_figure" in o]:
        bpy.data.objects.remove(obj)  # skis of the deleted controls
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), (*NOISE, *ORPHANS)) == []


def test_a_rig_that_grew_since_its_set_up_is_named(poise, scene):
    """Twisted forearms with a bone in between are as long as they were."""
    rig = human(straight=False)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    middle = bones.new("LeftArmTwist")
    middle.head, middle.tail = bones["LeftArm"].center, bones["LeftArm"].tail
    middle.parent, bones["LeftForeArm"].parent = bones["LeftArm"], middle
    bpy.ops.object.mode_set(mode="OBJECT")
    _, _, motion = set_up("SKIER", 13)
    bpy.ops.poise.bake()
    assert not motion.poise_motion.problems
    rig.scale = (2.0, 2.0, 2.0)
    bpy.ops.poise.bake()
    assert [p.code for p in motion.poise_motion.problems] == ["RIG_SIZE"]
    bpy.ops.poise.rig_setup(kind="SKIER")
    bpy.ops.poise.bake()
    assert "RIG_SIZE" not in [p.code for p in motion.poise_motion.problems]


@pytest.mark.parametrize("cleared", [0, 1])
def test_two_motions_on_bones_leave_nothing_in_any_order(poise, scene, cleared):
    """The second bake finds the first one's animation data, which are none of the rig's own."""
    rig = human()
    bpy.context.scene.frame_set(1)
    before = snapshot()
    _, controls, first = set_up("SKIER", 8)
    bpy.ops.poise.motion_add()
    second = rig.poise.motion_object
    second.poise_motion.frame_end = 14
    for motion in (second, first):
        set_active(motion)
        bpy.ops.poise.bake_to_bones()
    known = followers(poise, controls)
    assert worst_off(rig, controls, known, (1, 4, 8, 11, 14))[0] <= 1e-3
    set_active((first, second)[cleared])
    bpy.ops.poise.bake_clear()
    bpy.ops.poise.rig_remove()
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []


def test_a_rig_under_a_tilted_and_scaled_parent(poise, scene):
    """The importer's empty: 100 times as large, and lying on its back."""
    rig = human(scale=1.0)
    parent = bpy.data.objects.new("Import", None)
    bpy.context.collection.objects.link(parent)
    parent.matrix_world = Matrix.LocRotScale(
        (3.0, 1.0, 0.0), Matrix.Rotation(np.radians(25.0), 3, "Z"), (0.5,) * 3
    )
    rig.parent = parent
    bpy.context.view_layer.update()
    goes_all_the_way(poise, "SNOWBOARDER")
