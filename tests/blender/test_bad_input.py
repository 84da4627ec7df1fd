# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input through the operators: the right motion, or one sentence and nothing changed.

What a bake refuses of a rig is tested on bake_tracks itself; here stands what
an animator meets with Poise's own characters and their motions.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import inf, nan, pi, radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from operators_help import (
    UNDO_NOISE,
    activate,
    add,
    assert_follows,
    assert_same_keys,
    call,
    curves_of,
    keys_of,
    load,
    refused,
    sentence,
    settled,
    undoable,
    world_path,
)
from poise.addon import pipeline
from poise.addon.errors import UserError
from poise.solvers.errors import SettingError
from poise.solvers.legged import settings as legged_settings
from poise.solvers.path import settings as path_settings
from poise.solvers.turning import settings as turning_settings
from scenes_help import follower, path
from snapshot import counts, diff, snapshot

# Operators that need no character, or that need a file to be named.
FREE = {"character_add", "manual_open"}
OPERATORS = sorted(set(dir(bpy.ops.poise)) - FREE)


def turns_of(motion):
    """Settings of a motion's turns."""
    return motion.poise_motion.turns


# -- settings that are no numbers, or make no sense ---------------------------------

SETTINGS = [
    ("speed", nan, "Speed"),
    ("speed", inf, "Speed"),
    ("speed", 3.4e38, "Speed"),
    ("speed", 0.0, "Speed at the start is 0.0.*stands"),
    ("frequency", nan, "Frequency"),
    ("sharpness", nan, "Max Lean"),
    ("heading", nan, "Heading"),
    ("start_phase", nan, "Start Phase"),
    ("max_curvature", 0.0, "Curvature Limit is 0.0: it must be above 0"),
    ("max_curvature", nan, "Curvature Limit"),
    ("max_curvature_rate", 0.0, "Curvature Rate Limit is 0.0"),
    ("slope", nan, "Slope"),
    ("slope_direction", nan, "Fall Line"),
    ("fall_angle", nan, "Falls At"),
    ("irregularity", nan, "Irregularity"),
]


@pytest.mark.parametrize(("name", "value", "match"), SETTINGS)
def test_a_setting_without_sense_is_named(scene, name, value, match):
    _rig, motion = load()
    setattr(turns_of(motion), name, value)
    text = refused("bake", match)
    assert ":" in text


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("mass", nan, "Mass"),
        ("height", 0.0, "CoM Height"),
        ("height", 1e9, "CoM Height"),
        ("inertia", nan, "Inertia"),
    ],
)
def test_a_body_without_sense_is_named(scene, name, value, match):
    _rig, motion = load()
    turns_of(motion).auto_body = False
    setattr(turns_of(motion), name, value)
    refused("bake", match)
    # Taken from the character, the same settings do not count.
    turns_of(motion).auto_body = True
    assert bpy.ops.poise.bake() == {"FINISHED"}


@pytest.mark.parametrize(("name", "value"), [("friction", nan), ("drag_area", inf)])
def test_a_slide_without_sense_is_named(scene, name, value):
    _rig, motion = load(speed_mode="SLOPE")
    setattr(turns_of(motion), name, value)
    refused("bake", "Friction|Drag Area")


@pytest.mark.parametrize(("name", "value", "match"), [
    ("frequency", 0.0, "Frequency is 0.0: it must be between"), ("frequency", 1e6, "Frequency"),
    ("heading", inf, "Heading"), ("slope_direction", inf, "Fall Line"), ("inertia", inf, "Inertia"),
    ("mass", 0.0, "Mass is 0.0: it must be above 0 kg"),
])
def test_what_sliders_do_not_reach_is_named_by_the_solver(scene, name, value, match):
    """Blender stops at the sliders' ends; keys and scripts that call the solver do not."""
    _rig, motion = load(auto_body=False)
    settings = pipeline.gather(bpy.context, motion).settings
    with pytest.raises(SettingError, match=match):
        turning_settings.check_settings(replace(settings, **{name: value}))
    setattr(turns_of(motion), name, value)
    turning_settings.check_settings(pipeline.gather(bpy.context, motion).settings)


def test_negative_values_cannot_be_set(scene):
    """What has no lengths in it ends where the solver does, the rest at 0."""
    _rig, motion = load()
    for name in ("speed", "frequency", "sharpness", "mass", "height", "max_curvature", "friction"):
        setattr(turns_of(motion), name, -5.0)
        _label, least, *_ = turning_settings.RANGES[name]
        least = 0.0 if name in ("height", "max_curvature") else least
        assert getattr(turns_of(motion), name) == pytest.approx(least, rel=1e-6), name


def _check(job):
    """Only what the solvers check; nothing is solved."""
    settings = job.settings
    if isinstance(settings, turning_settings.TurningSettings):
        turning_settings.check_settings(settings)
    elif isinstance(settings, path_settings.PathSettings):
        path_settings.check_settings(settings)
    else:
        legged_settings.check_settings(settings)
        for item in settings.sequence:
            legged_settings.gait_of(item.gait, settings.creature)


def _on_a_path():
    _rig, motion, _way = follower(speed_mode="TERRAIN")
    mesh = bpy.data.meshes.new("Hill")
    mesh.from_pydata([(-99.0, -99.0, 0.0), (99.0, -99.0, 0.0), (0.0, 99.0, 20.0)], [], [(0, 1, 2)])
    motion.poise_motion.path.terrain = bpy.data.objects.new("Hill", mesh)
    bpy.context.collection.objects.link(motion.poise_motion.path.terrain)
    # Such a motion ends with its path.
    return motion, [(motion.poise_motion, "duration"), (motion.poise_motion.path,)]


def _of_gaits():
    _rig, motion = add("HORSE", 25)
    gait = motion.poise_motion.gait
    for name in ("TROT", "WALK"):
        gait.add(name)
    first, second, third = gait.sequence
    first.own_timing, first.stride_by, second.stride_by = True, "PERIOD", "STROKE"
    third.start_by = "DISTANCE"
    gait.add_speed(0.0, 1.6)
    return motion, [
        (motion.poise_motion,), (gait,), (first, "stroke", "distance"), (first.legs[0],),
        (second, "period", "distance"), (third, "period", "stroke", "start"),
        (gait.speed_points[0],),
    ]


def _of_turns():
    _rig, motion = load(speed_mode="SLOPE", auto_body=False)
    return motion, [(motion.poise_motion,), (turns_of(motion),)]


# What is said of settings that are good by themselves, and at odds with others.
AT_ODDS = (
    "ends at frame .* before its start", "has no End", "frames long: 100000 is the most",
    "Speed at the start", "below Falls At", "so that all plans can be counted", "^Speed is 0.0",
)


@pytest.mark.parametrize("setting_up", [_of_turns, _on_a_path, _of_gaits])
def test_whatever_scripts_set_is_taken_or_named(scene, setting_up):
    """Every number of a motion: what is none is named; what sliders stop at is taken. Where
    lengths are in it, the sentence says how far it goes."""
    motion, groups = setting_up()
    tried, named = 0, 0
    for group, *unused in groups:
        for prop in group.bl_rna.properties:
            if prop.type not in ("FLOAT", "INT") or prop.is_readonly or prop.is_array:
                continue
            former, end = getattr(group, prop.identifier), motion.poise_motion.frame_end
            for value in (nan, inf, -inf, 1e9, 0.0, -1.0):
                if prop.type == "INT":
                    value = {inf: 2**31 - 1, -inf: -(2**31)}.get(value, value)
                    if value != value:
                        continue
                    value = int(value)
                setattr(group, prop.identifier, value)
                said = ""
                for motion.poise_motion.gait.speed_by in ("WAY", "TIME"):
                    try:
                        _check(pipeline.gather(bpy.context, motion))
                    except (SettingError, UserError) as error:
                        said = str(error)
                what = (type(group).__name__, prop.identifier, value, said)
                tried += 1
                named += bool(said)
                assert "\n" not in said, what
                assert not said or prop.name in said or "frames long" in said, what
                if value != value:
                    assert said or prop.identifier in unused, what
                elif said and not getattr(group, "power", {}.get)(prop.identifier):
                    assert any(re.search(odds, said) for odds in AT_ODDS), what
                setattr(group, prop.identifier, former)
                motion.poise_motion.frame_end = end
    assert tried > 50 and named > 10


@pytest.mark.parametrize("kind", ["SKIER", "SNOWBOARDER", "CYCLIST"])
@pytest.mark.parametrize("value", [nan, inf])
def test_styles_without_numbers_never_reach_a_key(scene, kind, value):
    """Every amount of a style in turn: refused, or baked with numbers."""
    rig, motion = load(kind, frames=4)
    style = getattr(motion.poise_motion, kind.lower())
    for prop in style.bl_rna.properties:
        if prop.type != "FLOAT":
            continue
        former = getattr(style, prop.identifier)
        setattr(style, prop.identifier, value)
        try:
            bpy.ops.poise.bake()
        except RuntimeError as error:
            sentence(error)
        else:
            for key, keys in keys_of(curves_of(rig)).items():
                assert np.isfinite(keys).all(), (prop.identifier, key)
        setattr(style, prop.identifier, former)


def test_contradicting_settings(scene):
    """More lean than the fall, a fast turn on no grip: named, or told as a problem."""
    _rig, motion = load(sharpness=radians(50.0), fall_angle=radians(40.0))
    refused("bake", "Max Lean is 50.0 degrees: it must be below Falls At, 40.0 degrees")
    # Two degrees of lean are not to be had with a radius of 10 km at least.
    load(sharpness=radians(45.0), max_curvature=1e-4)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    motion = bpy.context.object.poise.motion_object
    codes = {p.code: p for p in motion.poise_motion.problems}
    assert any("CURV" in code or "LIMIT" in code or "CLIP" in code for code in codes), codes.keys()


def test_keyed_nonsense_names_the_time(scene):
    _rig, motion = load()
    turns = turns_of(motion)
    for frame, value in ((1, 9.0), (13, 1e7), (25, 9.0)):
        turns.speed = value
        turns.keyframe_insert("speed", frame=frame)
    scene = bpy.context.scene
    scene.frame_set(1)
    text = refused("bake", r"Speed at \d+\.\d+ s")
    assert "1000 m/s" in text


# -- frame ranges ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "match"),
    [
        (10, 5, "ends at frame 5, before its start at frame 10: set End after Start"),
        (1, 200_000, "frames long: 100000 is the most"),
        (-(2**31), 2**31 - 1, "frames long"),
        (1_048_570, 1_048_580, "frames end at"),
    ],
)
def test_ranges_that_are_none(scene, start, end, match):
    _rig, motion = load()
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = start, end
    text = refused("bake", match)
    assert "Traceback" not in text


def test_a_preview_range_that_is_not_there(scene):
    _rig, motion = load()
    motion.poise_motion.range_mode = "PREVIEW"
    refused("bake", "no preview range: press P")
    scene = bpy.context.scene
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = -30, -10
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    frames = keys_of(curves_of(motion.poise_motion.character))
    for keys in frames.values():
        if len(keys) > 1:
            assert (keys[0, 0], keys[-1, 0]) == (-30, -10)


@pytest.mark.parametrize(("seconds", "match"), [
    (1e9, "2147483647 frames long: 100000 is the most"),
    (inf, "2147483647 frames long: 100000 is the most"),
    (nan, "^Skier Motion has no End, for its Duration was set to nan: set one of them"),
    (-inf, ""), (-1e30, ""),
])
def test_a_duration_from_a_script_is_read_or_refused(scene, seconds, match, capfd):
    """Blender writes errors of a setting to the console, where no script sees them."""
    _rig, motion = load()
    motion.poise_motion.frame_end = 25
    motion.poise_motion.duration = seconds
    if match:
        refused("bake", match)
    else:
        assert motion.poise_motion.frame_end == 2
    told = capfd.readouterr()
    assert "Traceback" not in told.err + told.out


@pytest.mark.parametrize(("kind", "group", "name"), [
    ("HORSE", "gait", "path"), ("SKIER", "path", "terrain"),
])
def test_objects_that_panels_do_not_offer_are_named(scene, kind, group, name):
    """Scripts may set any of them."""
    _rig, motion = add(kind, 25)
    settings = motion.poise_motion
    settings.gait.path = settings.path.curve = None
    if group == "path":
        settings.kind = "PATH"
        settings.path.curve = path((0.0, 0.0, 0.0), (0.0, -9.0, 0.0), (0.0, -30.0, 0.0))
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata([(-9.0, -9.0, 0.0), (9.0, -9.0, 0.0), (0.0, 9.0, 0.0)], [], [(0, 1, 2)])
    for data in (
        mesh, None, bpy.data.lights.new("Lamp", "POINT"), bpy.data.cameras.new("Lens"),
        bpy.data.armatures.new("Bones"), bpy.data.curves.new("Letters", "FONT"),
        bpy.data.curves.new("Sheet", "SURFACE"), bpy.data.metaballs.new("Ball"),
        bpy.data.curves.new("Bend", "CURVE"), bpy.data.lattices.new("Cage"),
    ):
        wrong = bpy.data.objects.new("Wrong", data)
        if wrong.type == ("MESH" if name == "terrain" else "CURVE"):
            continue
        bpy.context.collection.objects.link(wrong)
        setattr(getattr(settings, group), name, wrong)
        said = "Terrain is .*no mesh: choose a mesh" if name == "terrain" else \
            "Path is .*no curve: choose a curve"
        refused("bake", said)


@pytest.mark.parametrize("kind", ["HORSE", "BIPED", "SKIER", "CYCLIST"])
def test_one_frame_is_a_pose(scene, kind):
    """That with which a longer motion begins."""
    rig, motion = add(kind, 49)
    solve = [pipeline.solve(pipeline.gather(bpy.context, motion)).tracks]
    motion.poise_motion.frame_end = 1
    solve.append(pipeline.solve(pipeline.gather(bpy.context, motion)).tracks)
    long, pose = solve
    assert len(pose.time) == 1
    for role, places in long.position.items():
        assert pose.position[role][0] == pytest.approx(places[0], abs=1e-9), role
    for role, turns in long.rotation.items():
        assert pose.rotation[role][0] == pytest.approx(turns[0], abs=1e-9), role
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert {key[0] for keys in keys_of(curves_of(rig)).values() for key in keys} == {1.0}
    assert bpy.ops.poise.bake_check() == {"FINISHED"}
    assert not motion.poise_motion.problems
    bpy.ops.poise.motion_add(name="Next")
    rig.poise.settings.frame_end = 25
    refused("bake", "goes on from .*, which is one frame long .1., a pose: set its End after Start")


@pytest.mark.parametrize(("old", "new"), [(100, 50), (100, 200)])
def test_time_that_is_stretched_is_refused(scene, old, new):
    """Blender plays keys at other times than they have, so that nothing falls as it should."""
    for kind in ("SKIER", "HORSE"):
        add(kind, 25)
        bpy.context.scene.render.frame_map_old = old
        bpy.context.scene.render.frame_map_new = new
        refused("bake", f"stretched from {old} to {new}.*set Old and New alike")
        bpy.context.scene.render.frame_map_old = bpy.context.scene.render.frame_map_new = 100
        assert bpy.ops.poise.bake() == {"FINISHED"}


@pytest.mark.parametrize("far", [2e4, 9.9e4])
def test_far_from_the_origin_the_cause_is_said_once(scene, far, capfd):
    """Single precision has 24 bits: at 99 km it steps by 2^-7 m."""
    rig, motion = add("SKIER", 37)
    rig.location.x = motion.location.x = far
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for _ in range(2):
        (only,) = motion.poise_motion.problems
        assert only.code == "FAR_AWAY"
        assert f"apart by {1000.0 * 2.0 ** (-9 if far < 3e4 else -7):.1f} mm" in only.message
        assert bpy.ops.poise.bake_check() == {"FINISHED"}
    said = capfd.readouterr().out  # counts what is listed
    assert "the rig does not follow" not in said and "follows the motion on every frame" in said
    rig.location.x = motion.location.x = 5e3
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not motion.poise_motion.problems


def test_two_frames_are_a_motion(scene):
    _rig, motion = load(frames=2)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


def test_a_negative_range(scene):
    _rig, motion = load()
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = -50, -20
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


def test_ten_thousand_frames(scene):
    rig, motion = load(frames=10_000)
    motion.poise_motion.key_mode = "SPARSE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    # At 3.7 km from the origin a place in single precision is good to 0.2 mm.
    assert_follows(motion, far=2e-3, frames=[0, 1, 4999, 5000.5, 9000, 9999])
    assert all(np.isfinite(keys).all() for keys in keys_of(curves_of(rig)).values())


# -- objects, modes, and what is active ----------------------------------------------


def _nothing():
    activate()


def _light():
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    activate(light)


def _removed():
    obj = bpy.data.objects.new("Gone", None)
    bpy.context.scene.collection.objects.link(obj)
    activate(obj)
    bpy.data.objects.remove(obj)


def _mesh_in(mode):
    def setup():
        mesh = bpy.data.meshes.new("Mesh")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        obj = bpy.data.objects.new("Mesh", mesh)
        bpy.context.scene.collection.objects.link(obj)
        activate(obj)
        bpy.ops.object.mode_set(mode=mode)

    return setup


ELSEWHERE = {
    "nothing active": _nothing,
    "a light": _light,
    "a removed object": _removed,
    "mesh edit": _mesh_in("EDIT"),
    "sculpt": _mesh_in("SCULPT"),
    "weight paint": _mesh_in("WEIGHT_PAINT"),
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_without_a_character_every_operator_says_so(scene, where):
    load()
    ELSEWHERE[where]()
    mode = bpy.context.mode
    before = settled()
    for name in OPERATORS:
        with pytest.raises(RuntimeError) as caught:
            call(name)()
        text = sentence(caught.value)
        # Presets and problems are there without one; some are for what is none.
        words = ("character", "problem", "preset", "vehicle", "wheels", "figure", "armature",
                 "Pose Mode")
        assert any(word in text for word in words), (name, text)
    assert bpy.context.mode == mode
    assert diff(before, settled()) == []
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def test_in_an_empty_scene_a_character_is_added_and_no_more(scene):
    for name in OPERATORS:
        with pytest.raises(RuntimeError) as caught:
            call(name)()
        sentence(caught.value)
    assert bpy.ops.poise.character_add() == {"FINISHED"}


def test_an_armature_that_is_no_character(scene):
    foreign = bpy.data.objects.new("Foreign", bpy.data.armatures.new("Foreign"))
    scene.collection.objects.link(foreign)
    activate(foreign)
    for name in OPERATORS:
        with pytest.raises(RuntimeError) as caught:
            call(name)()
        sentence(caught.value)
    refused("motion_add", "Foreign is not a Poise character: set it up")
    # A motion that was pointed to it by hand, and one that points to itself.
    motion = bpy.data.objects.new("Motion", None)
    scene.collection.objects.link(motion)
    for target in (foreign, motion):
        motion.poise_motion.character = target
        activate(target)
        # Those that only concern lists of motions and problems, or set settings, may work.
        work = {"motion_move", "motion_remove", "motion_select", "problem_show", "heading_drag"}
        for name in sorted(set(OPERATORS) - work):
            refused(name, "")
    activate(foreign)
    motion.poise_motion.character = foreign
    refused("bake", "Foreign is not a Poise character")
    assert bpy.ops.poise.motion_remove() == {"FINISHED"}


MODES = {
    "OBJECT": lambda rig, motion: activate(rig),
    "POSE": lambda rig, motion: (activate(rig), bpy.ops.object.mode_set(mode="POSE")),
    "mesh EDIT": lambda rig, motion: (
        activate(rig.children[0]), bpy.ops.object.mode_set(mode="EDIT")
    ),
    "WEIGHT_PAINT": lambda rig, motion: (
        activate(rig.children[0]), bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    ),
    "its mesh": lambda rig, motion: activate(rig.children[-1]),
    "its motion": lambda rig, motion: activate(motion),
    "armature EDIT": lambda rig, motion: (activate(rig), bpy.ops.object.mode_set(mode="EDIT")),
}


def test_mode_and_selection_make_no_difference_and_stay(scene):
    """From every mode the same keys; mode, selection and active object as they were."""
    keys = None
    for name, setup in MODES.items():
        rig, motion = load(frames=9)
        setup(rig, motion)
        state = (
            bpy.context.mode,
            bpy.context.object.name,
            sorted(obj.name for obj in bpy.context.selected_objects),
        )
        assert bpy.ops.poise.bake() == {"FINISHED"}, name
        assert state == (
            bpy.context.mode,
            bpy.context.object.name,
            sorted(obj.name for obj in bpy.context.selected_objects),
        ), name
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        found = keys_of(curves_of(rig))
        if keys is not None:
            assert_same_keys(keys, found)
        keys = found


def test_undo_from_every_mode(scene):
    for name, setup in MODES.items():
        rig, motion = load(frames=5)
        setup(rig, motion)
        mode = bpy.context.mode
        assert undoable("bake") == {"FINISHED"}
        bpy.ops.ed.undo()
        rig, motion = bpy.data.objects["Skier"], bpy.data.objects["Skier Motion"]
        assert not motion.poise_motion.record, name
        assert rig.animation_data is None or rig.animation_data.action is None, name
        assert not bpy.data.actions, name
        assert bpy.context.mode == mode, name
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")


# -- a rig that was changed ------------------------------------------------------------


def _remove_bone(rig, name):
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("kind", ["SKIER", "CYCLIST"])
def test_a_deleted_bone_is_named(scene, kind):
    """Each control in turn, and a joint that only the size is read from."""
    from poise.addon.rigs import characters

    bones = [*characters.ROLE_BONES[kind].values(), "thigh.L"]
    for bone in bones[::4] + ["root", "thigh.L"]:
        rig, _motion = load(kind)
        _remove_bone(rig, bone)
        refused("bake", f"lost its bone {bone}: add the character anew")


@pytest.mark.parametrize("value", [None, "heavy", 0.0, -70.0, nan])
def test_custom_properties_that_were_removed_or_changed(scene, value):
    for name in ("mass", "height", "sidecut"):
        rig, _motion = load()
        if value is None:
            del rig[f"poise_{name}"]
        else:
            rig[f"poise_{name}"] = value
        refused("bake", f"Custom property poise_{name} of Skier is .*add the character anew")


def test_a_bone_that_no_control_needs_may_go(scene):
    rig, motion = load()
    _remove_bone(rig, "DEF-toe.L")
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


SCALES = {
    "zero": ((0, 0, 0), "scaled to zero: give it a scale above zero"),
    "tiny": ((1e-12,) * 3, "scaled to zero"),
    "flat": ((1, 1, 0), "scaled"),
    "uneven": ((1, 1, 1.5), r"scaled unevenly \(1, 1, 1.5\)"),
    "mirrored": ((-1, 1, 1), "mirrored"),
    "huge": ((1e7,) * 3, "CoM Height|beyond"),
    "none": ((nan,) * 3, "a scale that is no number"),
}


@pytest.mark.parametrize("case", SCALES)
def test_scales_that_carry_no_figure(scene, case):
    scale, match = SCALES[case]
    rig, _motion = load()
    rig.scale = scale
    refused("bake", match)


@pytest.mark.parametrize("value", [nan, inf, 1e30])
def test_a_motion_that_stands_nowhere(scene, value):
    _rig, motion = load()
    motion.location.x = value
    refused("bake", "too far from the world")


@pytest.mark.parametrize("value", [nan, inf, 1e30])
def test_a_character_that_stands_nowhere(scene, value):
    """Keys that bring it back from there would be no numbers, or of kilometres of precision."""
    rig, _motion = load()
    rig.location.x = value
    refused("bake", "Skier stands too far from the world")


def test_a_character_that_goes_nowhere(scene):
    """Some way into the motion."""
    rig, _motion = load()
    rig.parent = parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.keyframe_insert("location", frame=10)
    parent.location.x = 1e30
    parent.keyframe_insert("location", frame=20)
    bpy.context.scene.frame_set(1)
    refused("bake", "Skier stands too far from the world")


def test_transforms_applied_to_the_armature_make_no_difference(scene):
    """Rotation and location applied; the scale that importers leave."""
    rig, motion = load()
    rig.location = motion.location = (2.0, 3.0, 1.0)
    rig.rotation_euler.z = motion.rotation_euler.z = 1.2
    bpy.ops.poise.bake()
    frames = [1, 9, 20.5, 37]
    bones = ("head", "hand.L", "ski.R")
    wanted = [world_path(rig, bone, frames) for bone in bones]
    bpy.ops.poise.bake_clear()
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=False)
    assert rig.rotation_euler.z == 0.0 and rig.location.length == 0.0
    bpy.ops.poise.bake()
    assert_follows(motion)
    for bone, places in zip(bones, wanted, strict=True):
        np.testing.assert_allclose(world_path(rig, bone, frames), places, atol=1e-4)
    # Lying in its data, and turned up again by the object, as FBX files hold it.
    bpy.ops.poise.bake_clear()
    rig.data.transform(Matrix.Rotation(-pi / 2, 4, "X"))
    rig.rotation_euler.x = pi / 2
    bpy.context.view_layer.update()
    bpy.ops.poise.bake()
    assert_follows(motion)
    for bone, places in zip(bones, wanted, strict=True):
        np.testing.assert_allclose(world_path(rig, bone, frames), places, atol=1e-4)
    # A motion added now stands where the character stands, and faces as it faces.
    bpy.ops.poise.motion_add()
    second = rig.poise.motion_object
    np.testing.assert_allclose(second.location, (2.0, 3.0, 1.0), atol=1e-5)
    assert abs(second.rotation_euler.z - 1.2) < 1e-5


@pytest.mark.parametrize("kind", ["SKIER", "SNOWBOARDER", "CYCLIST"])
@pytest.mark.parametrize("size", [1.2, 0.01])
def test_an_applied_scale_makes_no_difference(scene, kind, size):
    """A figure grown by its object, and grown in its data: the same, with nothing off its track."""
    rig, motion = load(kind)
    rig.scale = (size,) * 3
    if size < 0.1:
        # As importers leave it: centimetres in the data, a hundredth on the object.
        rig.data.transform(Matrix.Scale(1.0 / size, 4))
    bpy.context.view_layer.update()
    bpy.ops.poise.bake()
    assert_follows(motion)
    assert [p.message for p in motion.poise_motion.problems if p.code == "POSITION_OFF"] == []
    wanted = world_path(rig, "forearm.R", [1, 20, 37])
    bpy.ops.poise.bake_clear()
    activate(rig)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.ops.poise.bake()
    assert_follows(motion)
    assert [p.message for p in motion.poise_motion.problems if p.code == "POSITION_OFF"] == []
    np.testing.assert_allclose(world_path(rig, "forearm.R", [1, 20, 37]), wanted, atol=1e-3)


def test_a_tilted_and_moving_parent_does_not_move_the_motion(scene):
    """Deltas, a parent with an inverse and keys of its own: the same place in the world."""
    rig, motion = load()
    bpy.ops.poise.bake()
    frames = [1, 12, 30]
    wanted = world_path(rig, "pelvis", frames)
    bpy.ops.poise.bake_clear()
    scene = bpy.context.scene
    parent = bpy.data.objects.new("Sledge", None)
    scene.collection.objects.link(parent)
    for frame in (1, 40):
        parent.location = (frame, 0.0, -frame)
        parent.rotation_euler = (0.02 * frame, 0.3, 0.0)
        parent.keyframe_insert("location", frame=frame)
        parent.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(7)
    rig.parent = parent
    rig.matrix_parent_inverse = Matrix.Translation((3.0, 0.0, 0.0))
    rig.delta_location = (0.0, 0.0, 3.0)
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    np.testing.assert_allclose(world_path(rig, "pelvis", frames), wanted, atol=1e-3)
    assert tuple(rig.delta_location) == (0.0, 0.0, 3.0)


# -- where things are hidden -------------------------------------------------------------


def _exclude(*objects):
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        for former in list(obj.users_collection):
            former.objects.unlink(obj)
        collection.objects.link(obj)
    bpy.context.view_layer.layer_collection.children["Off"].exclude = True


@pytest.mark.parametrize("where", ["excluded", "excluded with its meshes", "disabled"])
def test_a_rig_put_away_is_baked_from_its_motion(scene, where):
    """Blender evaluates what the Motion object points to, wherever that is."""
    rig, motion = load()
    activate(motion)
    away = (rig,) if where == "excluded" else (rig, *rig.children)
    if where == "disabled":
        for obj in away:
            obj.hide_viewport = True
    else:
        _exclude(*away)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert rig.animation_data.action == motion.poise_motion.bake_action
    if where != "excluded":
        # Seen again, it moves as it should.
        for obj in away:
            obj.hide_viewport = False
        for child in bpy.context.view_layer.layer_collection.children:
            child.exclude = False
        bpy.context.view_layer.update()
    assert_follows(motion)


def test_a_rig_that_nothing_shows_is_refused(scene):
    """Without a Motion object in the view layer nothing evaluates a disabled rig."""
    rig, motion = load()
    for obj in (rig, motion, *rig.children):
        obj.hide_viewport = True
    activate(rig)
    refused("bake", "not part of this view layer: enable it and its collections")


def test_a_hidden_rig_and_hidden_bones_are_baked(scene):
    """The eye in the Outliner and bone collections only hide."""
    rig, motion = load()
    for collection in rig.data.collections_all:
        collection.is_visible = False
    activate(motion)
    rig.hide_set(True)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


@pytest.mark.parametrize("where", ["excluded", "disabled", "hidden"])
def test_a_hidden_motion_is_where_it_is(scene, where):
    """Where a Motion object stands counts, wherever it is put away."""
    rig, motion = load()
    motion.location = (4.0, -2.0, 0.0)
    motion.rotation_euler.z = 0.7
    bpy.context.view_layer.update()
    bpy.ops.poise.bake()
    wanted = world_path(rig, "root", [1, 20, 37])
    np.testing.assert_allclose(wanted[0], (4.0, -2.0, 0.0), atol=1e-3)
    activate(rig)
    if where == "excluded":
        _exclude(motion)
    elif where == "disabled":
        motion.hide_viewport = True
    else:
        motion.hide_set(True)
    bpy.ops.poise.bake()
    np.testing.assert_allclose(world_path(rig, "root", [1, 20, 37]), wanted, atol=1e-4)


# -- copies ----------------------------------------------------------------------------


@pytest.mark.parametrize("linked", [False, True])
def test_a_duplicated_character_does_not_touch_the_first(scene, linked):
    """Shift+D and Alt+D of rig, meshes and motion: baked, moved, cleared on its own."""
    rig, motion = load()
    bpy.ops.poise.bake()
    wanted, keys = world_path(rig, "head", [1, 20, 37]), keys_of(curves_of(rig))
    activate(motion, *rig.children, rig)
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.object
    other = copy.poise.motion_object
    assert other != motion and other.poise_motion.character == copy
    other.location.x += 5.0
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(other)
    assert_follows(motion)
    assert_same_keys(keys_of(curves_of(rig)), keys)
    bpy.ops.poise.bake_clear()
    np.testing.assert_allclose(world_path(rig, "head", [1, 20, 37]), wanted, atol=1e-6)
    assert_same_keys(keys_of(curves_of(rig)), keys)


def test_a_copied_rig_that_shares_action_and_slot_stays_as_it_is(scene):
    """object.copy(): same action, same slot."""
    rig, motion = load()
    bpy.ops.poise.bake()
    copy = rig.copy()
    bpy.context.scene.collection.objects.link(copy)
    wanted = world_path(copy, "head", [1, 20, 37])
    motion.location.x += 7.0
    bpy.context.view_layer.update()
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    np.testing.assert_allclose(world_path(copy, "head", [1, 20, 37]), wanted, atol=1e-6)


@pytest.mark.parametrize("renamed", [False, True])
def test_a_copied_motion_does_not_touch_the_first(scene, renamed, tmp_path):
    """Its bake, trail, camera and markers stay, also after names and file have changed."""
    rig, motion = load()
    bpy.ops.poise.bake()
    bpy.ops.poise.trail_add()
    bpy.ops.poise.chase_camera_add()
    bpy.ops.poise.markers_add()
    bpy.ops.poise.slope_add()
    activate(motion)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    if renamed:
        copy.name = "A second run"
        path = str(tmp_path / "copy.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    motion = bpy.data.objects["Skier Motion"]
    copy = bpy.context.object
    bpy.ops.poise.motion_activate(name=copy.name)
    refused("bake_clear", "no bake to clear")
    refused("bake_check", "not baked yet")
    markers = len(bpy.context.scene.timeline_markers)
    held = motion.poise_motion.bake_action, motion.poise_motion.trail, motion.poise_motion.camera
    keys = _all_keys(held[0])
    copy.poise_motion.frame_start += 60
    copy.poise_motion.frame_end += 60
    for name in ("bake", "trail_add", "chase_camera_add", "markers_add", "slope_add"):
        assert call(name)() == {"FINISHED"}, name
    mine = copy.poise_motion.bake_action, copy.poise_motion.trail, copy.poise_motion.camera
    assert not set(held) & set(mine)
    assert len(bpy.context.scene.timeline_markers) == 2 * markers
    assert_same_keys(_all_keys(held[0]), keys)
    assert_follows(motion)
    assert_follows(copy)
    bpy.ops.poise.motion_remove()
    assert held == (
        motion.poise_motion.bake_action, motion.poise_motion.trail, motion.poise_motion.camera
    )
    assert len(bpy.context.scene.timeline_markers) == markers
    assert_same_keys(_all_keys(held[0]), keys)
    assert_follows(motion)


def _all_keys(action):
    curves = [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]
    return keys_of(curves)


def test_two_characters_in_one_action_each_have_their_keys(scene):
    """The animator gives both rigs the same action: each is baked on its own."""
    first, one = add("SKIER", frames=13)
    second, other = add("SKIER", frames=13)
    other.location.x += 4.0
    action = bpy.data.actions.new("Shared")
    for rig in (first, second):
        rig.animation_data_create().action = action
    activate(first, second)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(one)
    assert_follows(other)
    # Into the current one, in the same slot, the other would move along.
    bpy.ops.poise.bake_clear()
    slot = action.slots.new(id_type="OBJECT", name="Both")
    for rig in (first, second):
        rig.animation_data_create().action = action
        rig.animation_data.action_slot = slot
        rig.poise.settings.target = "CURRENT"
    activate(second)
    refused("bake", "same action Shared in the same slot.*bake into a new action")
    # In slots of their own both can.
    second.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Own")
    activate(first, second)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(one)
    assert_follows(other)


def test_unused_slots_and_an_action_without_one(scene):
    """Two slots that nobody used: ours is another, and the rig plays it."""
    rig, motion = load()
    action = bpy.data.actions.new("Slots")
    for name in ("A", "B"):
        action.slots.new(id_type="OBJECT", name=name)
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = None
    motion.poise_motion.target = "CURRENT"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert rig.animation_data.action == action and rig.animation_data.action_slot is not None
    assert_follows(motion)
    before = {slot.name_display for slot in action.slots}
    assert {"A", "B"} <= before
    bpy.ops.poise.bake_clear()
    assert {slot.name_display for slot in action.slots} == {"A", "B"}


# -- what hides a bake -------------------------------------------------------------------


def _with_strip(rig):
    rig.keyframe_insert("location", frame=20)
    data = rig.animation_data
    track = data.nla_tracks.new()
    track.strips.new("Old", 20, data.action).scale = 2.0
    data.action = None
    return data, track


def test_tweak_mode_and_solo_tracks_are_refused(scene):
    rig, _motion = load()
    data, track = _with_strip(rig)
    data.nla_tracks.active = track
    track.select = track.strips[0].select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    refused("bake", "is in NLA tweak mode: leave it")
    rig, _motion = load()
    _data, track = _with_strip(rig)
    track.is_solo = True
    refused("bake", "plays alone and would hide the bake")


def test_blending_of_the_active_action_does_not_weaken_the_bake(scene):
    rig, motion = load()
    data, _track = _with_strip(rig)
    data.action = bpy.data.actions.new("Hand")
    data.action_blend_type, data.action_influence = "ADD", 0.5
    before = settled()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    bpy.ops.poise.bake_clear()
    # The former action has no other user, and stays with its blending.
    assert (data.action.name, data.action_blend_type, data.action_influence) == ("Hand", "ADD", 0.5)
    assert diff(before, settled(), [r"poise_motion", r"^actions\['Hand'\]"]) == []


def test_motion_sources_on_the_rig_are_named(scene):
    for kind, name in (("FOLLOW_PATH", "Follow Path"), ("CHILD_OF", "Child Of")):
        rig, motion = load()
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        rig.constraints.new(kind).target = target
        refused("bake", rf"\({name}\) moves Skier while the bake moves its bones: mute")
        rig.constraints[0].mute = True
        assert bpy.ops.poise.bake() == {"FINISHED"}
        assert_follows(motion)


def test_a_driver_on_a_control_is_named(scene):
    rig, _motion = load()
    rig.pose.bones["pelvis"].driver_add("location", 0)
    refused("bake", "Drivers move bone pelvis of Skier and would override the bake: mute or delete")


def test_a_limit_after_our_keys_is_listed(scene):
    """The keys are right and the pose is not: said in the problem list."""
    rig, motion = load()
    limit = rig.pose.bones["chest"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert any(p.bone == "chest" for p in motion.poise_motion.problems)


@pytest.mark.parametrize("trouble", ["lock", "mute", "modifier"])
def test_a_curve_that_would_not_play_is_named(scene, trouble):
    rig, motion = load()
    motion.poise_motion.target = "CURRENT"
    rig.pose.bones["root"].keyframe_insert("location", index=0, frame=200)
    (curve,) = curves_of(rig)
    if trouble == "modifier":
        curve.modifiers.new("CYCLES")
    else:
        setattr(curve, trouble, True)
    bpy.context.scene.frame_set(1)
    refused("bake", "root .* is (locked|muted|changed by a modifier)")
    motion.poise_motion.target = "NEW"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


# -- other actions, names, scenes ------------------------------------------------------------


def test_other_actions_bones_and_data_stay_as_they_are(scene):
    """Walk and Idle, hand keys on a bone that no motion drives, and a camera's keys."""
    rig, motion = load()
    for name in ("Walk", "Idle"):
        rig.animation_data_create().action = bpy.data.actions.new(name)
        rig.pose.bones["DEF-head"].keyframe_insert("location", frame=4)
    rig.animation_data.action = bpy.data.actions["Walk"]
    for action in bpy.data.actions:
        action.use_fake_user = True
    bpy.context.scene.frame_set(1)
    before = settled()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    driven = {curve.data_path.split('"')[1] for curve in curves_of(rig)}
    assert "DEF-head" not in driven
    after = settled()
    changed = [
        line
        for line in diff(before, after)
        if line.startswith("actions['Walk']") or line.startswith("actions['Idle']")
        if ".users" not in line
    ]
    assert changed == []
    bpy.ops.poise.bake_clear()
    assert rig.animation_data.action.name == "Walk"
    assert diff(before, settled(), [r"poise_motion"]) == []


def test_a_name_of_several_lines_makes_reports_of_one(scene):
    """Only scripts give such names."""
    rig, _motion = load()
    assert bpy.ops.poise.motion_add(name="\n") == {"FINISHED"}
    added = rig.poise.motion_object
    assert added.name.strip()
    added.name = "One\nTwo"
    refused("markers_clear", "^One Two has no markers to clear$")


def test_names_in_any_script(scene):
    """Long, CJK and quoted names; names that are taken by something else."""
    name = "前足の骨" * 5
    rig, motion = load()
    rig.name = name
    motion.name = '手"\\[1]'
    bpy.data.meshes.new("Skier Motion")
    bpy.data.actions.new(motion.name)
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for operator in ("trail_add", "markers_add", "chase_camera_add", "slope_add"):
        assert call(operator)() == {"FINISHED"}
    assert_follows(motion)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert motion.poise_motion.trail is None and not bpy.context.scene.timeline_markers


def test_the_operators_own_scene_counts(scene):
    """A rig in two scenes with other rates and units: the scene worked in decides."""
    rig, motion = load()
    first = bpy.context.scene
    second = bpy.data.scenes.new("60")
    second.render.fps = 60
    for obj in (rig, motion, *rig.children):
        second.collection.objects.link(obj)
    with bpy.context.temp_override(scene=second, view_layer=second.view_layers[0]):
        activate(rig)
        assert bpy.ops.poise.bake() == {"FINISHED"}
        frames = motion.poise_motion.frame_end - motion.poise_motion.frame_start
        second.frame_set(1 + frames)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        end = rig.evaluated_get(depsgraph)
        way = end.matrix_world @ end.pose.bones["root"].head
    # 36 frames are 0.6 s there: at 9 m/s 5.4 m, and not the 13.5 m of 24 fps.
    assert 4.8 < way.length < 5.5
    assert first.render.fps == 24 and first.frame_current == 1


def test_scene_settings_stay(scene):
    load()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 5, 17, 25
    scene.frame_set(11, subframe=0.5)
    scene.timeline_markers.new("mine", frame=3)
    before = settled()
    bpy.ops.poise.bake()
    ignore = [r"^objects\['Skier", r"^actions", r"users$"]
    assert diff(before, settled(), ignore) == []
    assert (scene.frame_current, scene.frame_subframe) == (11, 0.5)


# -- records of other versions, broken records, things that went away --------------------------


@pytest.mark.parametrize("record", ["{", "7", '{"target": 1}'])
def test_a_record_that_cannot_be_read(scene, record):
    rig, motion = load()
    bpy.ops.poise.bake()
    motion.poise_motion.record = record
    for name in ("bake", "bake_clear", "bake_check"):
        refused(name, "The bake of Skier Motion cannot be read.*add the motion anew")
    assert bpy.ops.poise.motion_remove() == {"FINISHED"}
    assert bpy.ops.poise.motion_add() == {"FINISHED"}
    settings = rig.poise.motion_object.poise_motion
    settings.range_mode, settings.frame_end = "OWN", settings.frame_start + 12
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(rig.poise.motion_object)


NONSENSE = (None, -1, 1e30, nan, "x", [], {}, {"a": 1}, [None], True)
FIELDS = (
    "target", "slot", "start", "end", "curves", "groups", "made_slot", "pose", "former", "track",
    "edits_track", "store",
)
FORMER = ("animated", "slot", "last_slot", "blend_type", "influence", "extrapolation")
PATHS = ("x", "location", 'pose.bones["root"].location', 'pose.bones["No"].location', '["q"]')
STORED = ("counts", "sparse", "points", "before", "former_action")
POINTERS = ("bake_action", "former_action", "edits_action")


def _spoil(settings, rng):
    """Spoil what a motion, and its action, remember of a bake; says how."""
    what, value = rng.integers(5), NONSENSE[rng.integers(len(NONSENSE))]
    record = json.loads(settings.record)
    if what == 0:
        name = str(rng.choice(FIELDS))
        record[name] = value
    elif what == 1:
        name = str(rng.choice(FORMER))
        record["former"][name] = value
    elif what == 2:
        name = str(rng.choice(PATHS))
        record["pose"][name] = value
    elif what == 3:
        name, value = (str(n) for n in rng.choice(POINTERS, 2, replace=False))
        setattr(settings, name, getattr(settings, value))
    else:
        name, stored = str(rng.choice(STORED)), settings.bake_action["poise_baked"]
        if value is None:
            stored.pop(name, None)
        elif value not in ([None], []):  # no custom property holds such
            stored[name] = value
    settings.record = json.dumps(record)
    return int(what), name, value


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_spoilt_of_a_record_says_so_or_does_no_harm(scene, seed):
    """No traceback, no crash, and the animator's own action stays."""
    rng = np.random.default_rng(seed)
    rig, motion = load()
    own = bpy.data.actions.new("Own")
    rig.animation_data_create().action = own
    rig.animation_data.action_slot = own.slots.new("OBJECT", rig.name)
    bpy.ops.poise.bake()
    spoilt = _spoil(motion.poise_motion, rng)
    for name in (("bake", "bake_check", "bake_clear"), ("bake_clear", "bake"))[seed % 2]:
        try:
            getattr(bpy.ops.poise, name)()
        except RuntimeError as error:
            assert "Traceback" not in str(error), (spoilt, name)
            assert len(str(error).strip().splitlines()) == 1
    assert bpy.ops.poise.motion_remove() == {"FINISHED"}
    assert "Own" in bpy.data.actions, spoilt


@pytest.mark.parametrize("first", POINTERS)
@pytest.mark.parametrize("second", POINTERS)
def test_a_record_that_names_an_action_twice_loses_none_of_the_animators(scene, first, second):
    """It would be removed twice: Blender would crash."""
    rig, motion = load()
    own = bpy.data.actions.new("Own")
    rig.animation_data_create().action = own
    rig.animation_data.action_slot = own.slots.new("OBJECT", rig.name)
    bpy.ops.poise.bake()
    settings = motion.poise_motion
    setattr(settings, first, getattr(settings, second))
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert "Own" in bpy.data.actions


def test_a_record_of_a_later_version(scene):
    _rig, motion = load()
    bpy.ops.poise.bake()
    record = json.loads(motion.poise_motion.record) | {"version": 99}
    motion.poise_motion.record = json.dumps(record)
    refused("bake", "later version of Poise")


def test_baking_goes_on_after_the_action_was_deleted(scene):
    _rig, motion = load()
    bpy.ops.poise.bake()
    bpy.data.actions.remove(motion.poise_motion.bake_action)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert not bpy.data.actions


def test_kept_edits_whose_slot_was_removed(scene):
    """They are gone; further edits are kept in a new slot."""
    rig, motion = load(frames=9)
    bpy.ops.poise.bake()
    motion.poise_motion.edited_keys = "KEEP_EDITS"
    for _ in range(2):
        curve = curves_of(rig)[0]
        curve.keyframe_points[0].co.y += 0.25
        assert bpy.ops.poise.bake() == {"FINISHED"}
        edits = motion.poise_motion.edits_action
        assert len(edits.slots) == 1
        # Bakes with kept edits play from the NLA.
        rig.animation_data.action = motion.poise_motion.bake_action
        former = edits
        edits.slots.remove(edits.slots[0])
    rig.animation_data.action = None
    motion.poise_motion.edited_keys = "OVERWRITE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert motion.poise_motion.edits_action == former and len(former.slots) == 1


@pytest.mark.parametrize(
    ("operator", "match", "arguments"),
    [
        ("chase_camera_add", "Height is nan: it must be a number", {"height": nan}),
        ("chase_camera_add", "Side is nan", {"side": nan}),
        ("character_add", "Slope is nan", {"slope": nan}),
        ("character_add", "Jacket is nan", {"suit": (nan, 0.0, 0.0)}),
        ("playblast", "Size is nan", {"percentage": nan}),
    ],
)
def test_options_that_are_no_number(scene, operator, match, arguments):
    load()
    bpy.ops.poise.bake()
    refused(operator, match, **arguments)


def test_helpers_that_the_animator_deleted_are_made_anew(scene):
    _rig, motion = load()
    for name in ("trail_add", "chase_camera_add", "slope_add", "markers_add"):
        call(name)()
    for obj in [o for o in bpy.data.objects if o.name.startswith("Skier Motion ")]:
        bpy.data.objects.remove(obj)
    bpy.context.scene.timeline_markers.clear()
    for name in ("trail_add", "chase_camera_add", "slope_add", "markers_add"):
        assert call(name)() == {"FINISHED"}, name
    assert motion.poise_motion.trail is not None and bpy.context.scene.camera is not None


def test_undo_redo_and_deleting_the_rig(scene):
    """Bake, undo, redo, bake, delete the rig, undo: no reference outlives its object."""
    load()
    assert undoable("bake") == {"FINISHED"}
    assert call("trail_add")("EXEC_DEFAULT", True) == {"FINISHED"}
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert_follows(bpy.data.objects["Skier Motion"])
    assert call("bake")("EXEC_DEFAULT", True) == {"FINISHED"}
    rig, motion = bpy.data.objects["Skier"], bpy.data.objects["Skier Motion"]
    bpy.data.objects.remove(rig)
    bpy.ops.ed.undo_push(message="rig removed")
    bpy.context.view_layer.update()
    activate(motion)
    for name in OPERATORS:
        with pytest.raises(RuntimeError) as caught:
            call(name)()
        sentence(caught.value)
    bpy.ops.ed.undo()
    activate(bpy.data.objects["Skier"])
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(bpy.data.objects["Skier Motion"])


def test_one_undo_step_removes_a_whole_bake(scene):
    load("SNOWBOARDER")
    before = settled()
    assert undoable("bake") == {"FINISHED"}
    assert diff(before, settled()) != []
    bpy.ops.ed.undo()
    assert diff(before, settled(), UNDO_NOISE) == []


def test_two_hundred_bakes_leave_nothing_behind(scene):
    rig, motion = load(frames=3)
    bpy.ops.poise.bake()
    before, keys = counts(), keys_of(curves_of(rig))
    for _ in range(200):
        bpy.ops.poise.bake()
    assert counts() == before
    assert_same_keys(keys_of(curves_of(rig)), keys)


# -- chains -------------------------------------------------------------------------------------


def test_motions_in_a_circle(scene):
    rig, first = load()
    bpy.ops.poise.motion_add()
    second = rig.poise.motion_object
    first.poise_motion.after = second
    for name in ("bake", "bake_all"):
        refused(name, "continues itself|in a circle")
    second.poise_motion.after = second
    refused("bake", "continues itself")


def test_after_another_characters_motion(scene):
    _first, one = add("SKIER")
    _second, other = add("CYCLIST")
    other.poise_motion.after = one
    refused("bake", "moves another character")


def test_after_a_motion_that_falls(scene):
    """Named is the motion to put right, and what is wrong with it."""
    rig, first = load(frames=49, sharpness=radians(60.0), fall_angle=radians(61.0))
    turns_of(first).max_curvature, turns_of(first).max_curvature_rate = 0.02, 0.01
    turns_of(first).start_phase = pi / 2
    bpy.ops.poise.bake()
    fell = any(p.code == "FALL" for p in first.poise_motion.problems)
    bpy.ops.poise.motion_add()
    if not fell:
        # The solver kept it upright by asking for less: nothing to refuse.
        assert bpy.ops.poise.bake() == {"FINISHED"}
        return
    refused("bake", "continues Skier Motion, which falls or stops before its end")
    bpy.ops.poise.motion_activate(name=first.name)
    assert bpy.ops.poise.bake() == {"FINISHED"}


def test_what_follows_does_not_keep_a_motion_from_being_baked(scene):
    rig, first = load()
    bpy.ops.poise.motion_add()
    second = rig.poise.motion_object
    second.poise_motion.frame_end = second.poise_motion.frame_start - 5
    refused("bake", "ends at frame")
    refused("bake_all", "ends at frame")
    bpy.ops.poise.motion_activate(name=first.name)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(first)
    second.poise_motion.frame_end = second.poise_motion.frame_start + 10
    turns_of(second).speed = 0.0
    turns_of(second).frequency = nan
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(first)
    bpy.ops.poise.motion_activate(name=second.name)
    refused("bake", f"{second.name}: Frequency")


# -- adding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"height": nan}, "Height|height"),
        ({"mass": nan}, "Mass"),
        ({"height": inf}, "Height|height|^$"),
    ],
)
def test_characters_that_cannot_be(scene, arguments, match):
    before = snapshot()
    try:
        result = bpy.ops.poise.character_add(**arguments)
    except RuntimeError as error:
        sentence(error)
        assert diff(before, snapshot()) == []
        return
    # Blender brought the value into its range.
    assert result == {"FINISHED"}
    figure = bpy.context.object
    assert np.isfinite(figure.dimensions).all() and max(figure.dimensions) < 20.0


def test_a_cursor_that_is_nowhere(scene):
    scene.cursor.location = (nan, 0.0, 0.0)
    before = snapshot()
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.poise.character_add()
    assert "cursor" in sentence(caught.value)
    assert diff(before, snapshot()) == []


def test_a_character_in_a_scene_whose_collection_is_excluded(scene):
    """The active collection is switched off: refused, or added where it is seen."""
    collection = bpy.data.collections.new("Off")
    scene.collection.children.link(collection)
    layer = bpy.context.view_layer.layer_collection.children["Off"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude = True
    assert bpy.ops.poise.character_add() == {"FINISHED"}
    assert bpy.context.object is not None and bpy.context.object.type == "ARMATURE"
    assert bpy.ops.poise.bake() == {"FINISHED"}


# -- stopping ---------------------------------------------------------------------------------


def test_work_stops_when_asked_and_hands_over_its_error(scene):
    """What Esc does: the thread ends, nothing is left to be written."""
    from poise.addon import pipeline
    from poise.addon.base_operator import Work
    from poise.solvers.errors import Cancelled

    _rig, motion = load(frames=5000)
    before = settled()
    work = Work(pipeline.solve, pipeline.gather(bpy.context, motion))
    work.stop()
    assert work.wait(0.0)
    assert isinstance(work.error, Cancelled) and work.result is None
    assert diff(before, settled()) == []
    # Asked at any later moment, too.
    calls = []

    def progress(fraction):
        calls.append(fraction)
        if len(calls) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        pipeline.solve(pipeline.gather(bpy.context, motion), progress)
    assert calls == sorted(calls) and 0.0 <= calls[0] and calls[-1] <= 1.0


def test_settings_changed_while_they_are_solved_do_not_count(scene):
    """A job is frozen: what is baked is what was gathered."""
    from poise.addon import pipeline

    _rig, motion = load()
    job = pipeline.gather(bpy.context, motion)
    wanted = pipeline.solve(job).motion.position
    turns_of(motion).speed = 3.0
    motion.location.x = 50.0
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(pipeline.solve(job).motion.position, wanted)
