# SPDX-License-Identifier: GPL-3.0-or-later
"""No text of a panel is cut in a sidebar that is as wide as Blender makes it.

Texts are measured in Blender's own font, their places as a window showed them.
"""

import ast
import re
from pathlib import Path

import bpy
import poise
import pytest
from operators_draw import cut
from operators_help import activate, load
from own_rigs_help import human
from poise.addon import compat, motions
from poise.addon.rigs import characters
from poise.addon.scene import course
from poise.addon.settings.gait import gaits_for
from poise.addon.show import preview
from poise.solvers.legged import settings as legged_settings
from poise.solvers.legged.gait import NUMBERS as gait_numbers
from poise.solvers.path import settings as path_settings
from poise.solvers.posing import settings as posing_settings
from poise.solvers.turning import settings as turning_settings
from scenes_help import follower


def groups_of(motion):
    """Groups of settings of a motion, and of the first gait in its list."""
    settings = motion.poise_motion
    pointed = (
        getattr(settings, prop.identifier) for prop in settings.bl_rna.properties
        if prop.type == "POINTER" and prop.identifier != "rna_type"
    )
    groups = [group for group in pointed if isinstance(group, bpy.types.PropertyGroup)]
    return [settings, *groups, *settings.gait.sequence[:1]]


def choices_of(group):
    """(name, values) of each choice and switch of a group; which motion it is stays."""
    for prop in group.bl_rna.properties:
        if prop.is_readonly or prop.identifier in ("kind", "is_active"):
            continue
        if prop.type == "ENUM" and not prop.is_enum_flag:
            yield prop.identifier, prop.enum_items.keys()
        elif prop.type == "BOOLEAN":
            yield prop.identifier, (False, True)


def assert_whole_with_every_choice(motion):
    """Draw with each value of each choice, one choice after the other."""
    drawn = 0
    for group in groups_of(motion):
        for name, values in choices_of(group):
            former = getattr(group, name)
            for value in values:
                setattr(group, name, value)
                assert cut() == {}, (name, value)
                drawn += 1
            setattr(group, name, former)
    assert drawn > 50


def test_what_is_too_long_is_told(scene):
    _rig, motion = load()
    assert cut() == {}
    motion.name = "A motion whose name is longer than its place"
    found = cut()
    assert list(found) == ["POISE_PT_motion"] and motion.name in found["POISE_PT_motion"][0]


def test_without_a_motion(scene):
    assert cut() == {}
    activate(human())
    assert cut() == {}
    assert bpy.ops.poise.rig_roles_find() == {"FINISHED"}
    assert cut() == {}


def test_of_a_rig_that_is_set_up_and_baked(scene):
    activate(human())
    assert bpy.ops.poise.rig_setup(kind="SKIER") == {"FINISHED"}
    motion = motions.active_motion(motions.active_character(bpy.context))
    turns = motion.poise_motion.turns
    turns.max_curvature, turns.sharpness = 0.02, 0.7
    bpy.ops.poise.bake()
    turns.speed = 7.0
    preview.refresh(bpy.context, motion)
    assert len(motion.poise_motion.problems) > 0 and preview.status(motion).out_of_date
    assert_whole_with_every_choice(motion)


@pytest.mark.parametrize("kind", characters.KINDS)
def test_of_a_character(scene, kind):
    _rig, motion = load(kind)
    preview.refresh(bpy.context, motion)
    assert cut() == {}


@pytest.mark.parametrize("kind", ["HORSE", "BIPED", "INSECT"])
def test_of_gaits(scene, kind):
    rig, motion = load(kind, frames=121)
    legs = len(motion.poise_motion.gait.sequence[0].legs)
    for time, gait in enumerate(gaits_for(legs), 1):
        bpy.ops.poise.gait_add(preset=gait)
        motion = rig.poise.motion_object
        motion.poise_motion.gait.sequence[-1].start = 10.0 * time
    bpy.ops.poise.footprints_edit()
    mark = next(obj for obj in bpy.data.objects if obj.poise_footprint.motion is not None)
    mark.location.x += 0.02
    activate(mark)
    bpy.ops.poise.footprints_adapt()
    motion = rig.poise.motion_object
    gait = motion.poise_motion.gait
    assert len(gait.footprints) > 0
    gait.sequence_index = 0
    preview.refresh(bpy.context, motion)
    assert_whole_with_every_choice(motion)


def test_of_a_path(scene):
    rig, motion, way = follower()
    bpy.context.scene.cursor.location = (1.0, -20.0, 0.0)
    bpy.ops.poise.gate_add(width=3.0)
    bpy.ops.poise.path_plan()
    motion = rig.poise.motion_object
    motion.poise_motion.path.terrain = rig.children[0]
    way.data.splines[0].use_cyclic_u = True
    assert_whole_with_every_choice(motion)
    activate(course.gates_of(rig.poise.path.gates)[0])
    assert cut() == {}


def test_of_pose_timing():
    rig, _motion = load(frames=13)
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    assert cut() == {}
    bone = rig.pose.bones["hand_ik.L"]
    compat.select_bone(bone, True)
    rig.data.bones.active = bone.bone
    bpy.context.scene.frame_set(9)
    calls = [(bpy.ops.poise.target_add, {}), (bpy.ops.poise.overlap_add, {}),
             (bpy.ops.poise.bone_setting_add, {})]
    calls += [(bpy.ops.poise.disturbance_add, {"kind": k}) for k in ("BALL", "WEIGHT", "PUSH")]
    for call, arguments in calls:
        assert call(**arguments) == {"FINISHED"}
        assert cut() == {}, arguments
    preview.refresh(bpy.context, rig.poise.motion_object)
    assert cut() == {}
    assert bpy.ops.poise.pose_check() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert cut() == {}


def test_of_free_form(scene):
    load("BIPED", frames=13)
    assert bpy.ops.poise.motion_add(kind="FREEFORM") == {"FINISHED"}
    assert cut() == {}
    for frame in (1, 9):
        bpy.context.scene.frame_set(frame)
        assert bpy.ops.poise.posture_add() == {"FINISHED"}
        freeform = bpy.context.object.poise.motion_object.poise_motion.freeform
        freeform.postures[-1].name = "P"  # as long as the user likes
    assert cut() == {}


@pytest.mark.parametrize("kind", ["LUXO", "CAR"])
def test_of_machines(scene, kind):
    assert bpy.ops.poise.character_add(kind=kind) == {"FINISHED"}
    assert cut() == {}


def test_of_controllers():
    assert bpy.ops.poise.character_add(kind="PENDULUM") == {"FINISHED"}
    assert cut() == {}
    motion = bpy.context.object.poise.motion_object
    for name in "AD":
        bpy.ops.poise.controller_add(library=name)
        bpy.ops.poise.script_add(seconds=1.0)
        bpy.ops.poise.start_set()
        assert cut() == {}, name
    bpy.ops.poise.controller_build()
    preview.refresh(bpy.context, motion)
    assert cut() == {}


def known_to_solvers(motion):
    """(property, label in messages, least, most, power of lengths in it) of all settings whose
    ranges solvers have."""
    settings = motion.poise_motion
    tables = (
        (settings.turns, {**turning_settings.RANGES, **turning_settings.FIXED_RANGES}),
        (settings.path, {**path_settings.NUMBERS, **path_settings.WHOLE}),
        (settings.gait, legged_settings.NUMBERS),
        (settings.pose_timing, posing_settings.NUMBERS),
        (settings.gait.sequence.add(), legged_settings.ITEM_NUMBERS),
    )
    for group, table in tables:
        for row in group.ROWS:
            if row.known_as in table:
                yield group.bl_rna.properties[row.name], *table[row.known_as][:3], row.power


def test_messages_call_settings_as_panels_do(scene):
    _rig, motion = load()
    found = {prop.identifier: (prop.name, label) for prop, label, *_ in known_to_solvers(motion)}
    assert len(found) > 25
    assert [pair for pair in found.values() if pair[0] != pair[1]] == []
    # Amounts of a gait by what makes them.
    made_by = {"clearance": "lift", "compression": "bounce", "spring": "bounce", "arc": "bounce"}
    item = motion.poise_motion.gait.sequence.add()
    named = {
        row[0]: item.bl_rna.properties[made_by.get(name, name)].name
        for name, row in gait_numbers.items() if made_by.get(name, name) in item.bl_rna.properties
    }
    assert len(named) == 11
    assert [label for label, name in named.items() if label.partition(" (")[0] != name] == []


def test_sliders_end_where_solvers_do(scene):
    """And never beyond it, by a single precision's last digit. Those with lengths in them, in
    Blender's units, go as far as a scene's unit scale takes them."""
    _rig, motion = load()
    ends = {}
    for prop, _label, least, most, lengths in known_to_solvers(motion):
        if not lengths:
            assert least <= prop.hard_min <= prop.soft_min, prop.identifier
            assert prop.soft_max <= prop.hard_max <= most, prop.identifier
            ends[prop.identifier] = (prop.hard_min, prop.hard_max), (least, most)
    assert len(ends) > 20
    for name, (slider, solver) in ends.items():
        assert slider == pytest.approx(solver, rel=1e-6), name


def names_in_panels():
    """Names of all that panels of Poise show: settings, their choices, buttons, panels."""
    names, kinds = set(), [bpy.types.PropertyGroup, bpy.types.Operator, bpy.types.Panel]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if not kind.__module__.startswith(poise.__name__) or not kind.is_registered:
            continue
        names.add(getattr(kind, "bl_label", ""))
        # Those of an operator stand with its calls, not with its class.
        names |= {made.keywords.get("name", "") for made in vars(kind).get(
            "__annotations__", {}).values()}
        for prop in kind.bl_rna.properties:
            names.add(prop.name)
            if prop.type == "ENUM":
                names |= {item.name for item in prop.enum_items}
    return names


def sentences(path):
    """(line, text) of the texts in a file that are no documentation; {} for what is put in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    apart = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            yield node.lineno, "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in apart and " " in node.value.strip():
                yield node.lineno, node.value


TITLE = re.compile(
    r"(?<!\w)[A-Z][a-z]\w*(?: (?:[A-Z][a-z]\w*|(?:of|to|from|as|per) [A-Z][a-z]\w*))*"
)

PARTS = re.compile(r" (?:to |from |of |(?=Slope))")
LABEL = re.compile(r"(?:[A-Z][\w']*|\W|to|of|or|with|in|the|from|as|per)+|<svg.*")


def test_messages_name_what_panels_have(scene):
    """Capital words within sentences are names: of what Poise's panels have, or of what Blender's
    have, listed here."""
    blenders = {
        "Alt", "Armature", "Blender", "Camera", "Connected", "Data", "Disable", "Edit Mode", "Esc",
        "Frame Rate", "Froude", "Generate Rig", "Hz", "IK Solver", "Inverse Kinematics",
        "Library Override", "Make", "New", "Nonlinear Animation", "Object", "Old", "Outliner",
        "Output", "Poise", "Pose Mode", "Pose Position", "Replace", "Rest Pose", "Rest Position",
        "Rigify", "Shift", "Solver", "Standard", "Tab", "Time Stretching", "Unit Scale",
        "Viewports", "Empties", "Apply Pose", "Apply Pose as Rest Pose",
        "Inherit Rotation", "Timeline",
        "Create Pose Asset", "Mesh", "Separate", "By Loose Parts",
        "Image Editor", "Item", "Rotation", "Marker", "Bind Camera to Markers", "Enter",
    }
    # What only scripts meet, and what is no setting.
    others = {"Bake to Bones", "Carving", "Dynamics", "Flat", "Stage", "Start State", "Trajectory",
              "Wheel"}
    root = Path(poise.__file__).parent
    names, found, wrong = names_in_panels() | blenders | others, 0, []
    for file in (*root.glob("panels/*.py"), *root.glob("operators/*.py"),
                 root / "addon/ui/menus.py"):
        names |= {text for _line, text in sentences(file)}
    assert "Max Lean" in names and "Make Cycle" in names and "Track Width" in names
    for file in (*root.glob("solvers/**/*.py"), *root.glob("addon/**/*.py"),
                 *root.glob("operators/*.py")):
        for line, text in sentences(file):
            for match in TITLE.finditer(text):
                before, run = text[: match.start()].rstrip(), match.group()
                begins = not before or before[-1] in ".:;?!)" or before.endswith("{}")
                # The first word of a sentence has its capital anyway.
                rest = run.partition(" ")[2] if begins else run
                if not rest or LABEL.fullmatch(text):
                    continue
                found += 1
                # "Motion to Gait" is a setting and its choice.
                runs = [{each} for each in (run, rest)]
                runs += [set(PARTS.split(each)) for each in (run, rest)]
                if not any(names >= each for each in runs):
                    wrong.append((file.name, line, run, text))
    assert found > 100
    assert wrong == []
