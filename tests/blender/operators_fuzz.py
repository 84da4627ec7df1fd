# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scenes, settings and operators, all of them decided by one seed.

A trial loads a file with a character, brings the scene into some state, sets
some settings, and calls operators. Most trials stay within what an animator
does; the others spoil something: a value beyond its range, a rig out of its
collection, a record that is not one.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np
from operators_help import activate, sentence
from poise.addon import compat, families
from poise.addon.mapping.registry import STYLE_GROUPS
from poise.addon.rigs.actor import Actor
from poise.addon.rigs.characters import KINDS as KINDS_OF_CHARACTERS
from poise.addon.rigs.machines import MACHINES
from poise.addon.scene.figures import legs_of
from poise.addon.settings.gait import gaits_for

GROUPS = ("turns", "path", "gait", "pose_timing", "control", "freeform", *STYLE_GROUPS)
KINDS = (*KINDS_OF_CHARACTERS, *MACHINES)

# Operators that write files or take long are called less often.
RARE = {
    "playblast": 0.05, "preset_add": 0.1, "gait_preset_add": 0.1, "diagram_save": 0.15,
    "character_add": 0.3, "controller_build": 0.3,
}

# Chance that a trial stays within ranges and spoils nothing.
SANE = 0.5

TEXTS = ("", "Carving", "carving", "Slalom", "Skier Motion", "前足の骨" * 6, '"\\[x]', "\n", "../x")
NUMBERS = (0.0, -0.0, -1.0, 1e-9, 1e-3, 1e6, -1e6, 3.4e38, -3.4e38, math.inf, -math.inf, math.nan)


@dataclass
class Trial:
    """What one trial is, and what it has met."""

    seed: int
    rng: random.Random
    folder: Path
    sane: bool
    log: list[str] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        """True with some probability."""
        return self.rng.random() < share

    def say(self, text: str) -> None:
        """Note what was done, for the report of a failure."""
        self.log.append(text)


def start(seed: int, folder: Path) -> Trial:
    """A trial with a random generator of its own."""
    rng = random.Random(seed)
    return Trial(seed, rng, folder, rng.random() < SANE)


# -- files to begin with ---------------------------------------------------------


def make_files(folder: Path) -> None:
    """Save the files that trials begin with: one for each kind, and one with both."""
    for name, kinds in (
        *((kind, (kind,)) for kind in KINDS),
        ("BOTH", ("SKIER", "SNOWBOARDER")),
    ):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        _furnish()
        for number, kind in enumerate(kinds):
            bpy.context.scene.cursor.location = (3.0 * number, 0.0, 0.0)
            bpy.ops.poise.character_add(kind=kind, goofy=number > 0)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))


def _furnish() -> None:
    """Things that are none of Poise's: a mesh, another armature, a camera, an action."""
    scene = bpy.context.scene
    mesh = bpy.data.meshes.new("Cube")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 1, 2), (0, 1, 3)])
    cube = bpy.data.objects.new("Cube", mesh)
    foreign = bpy.data.objects.new("Foreign", bpy.data.armatures.new("Foreign"))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    empty = bpy.data.objects.new("Empty", None)
    for obj in (cube, foreign, camera, empty):
        scene.collection.objects.link(obj)
    activate(foreign)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = foreign.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    cube.location = (0, 0, 2)
    cube.keyframe_insert("location", frame=3)
    bpy.data.actions.new("Skier Motion").use_fake_user = True


def begin(trial: Trial) -> None:
    """Load a file, or make an empty one with a character added under other units."""
    rng = trial.rng
    if trial.chance(0.12):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        units = bpy.context.scene.unit_settings
        units.system = rng.choice(("METRIC", "IMPERIAL", "NONE"))
        units.scale_length = rng.choice((1.0, 0.01, 0.001, 0.3048, 100.0))
        scene = bpy.context.scene
        scene.cursor.location = [rng.uniform(-50, 50) for _ in range(3)]
        arguments = {"kind": rng.choice(KINDS), "height": rng.uniform(1.2, 2.2)}
        trial.say(f"new file, {units.system} {units.scale_length:g}, {arguments}")
        bpy.ops.poise.character_add(**arguments)
    else:
        name = rng.choice(("SKIER", *KINDS, "BOTH"))
        trial.say(f"file {name}")
        bpy.ops.wm.open_mainfile(filepath=str(trial.folder / f"{name}.blend"))
    for motion in motions():
        settings = motion.poise_motion
        settings.frame_start = rng.randint(-20, 60)
        settings.frame_end = settings.frame_start + rng.choice((1, 2, 5, 12, 24, 40))


def characters() -> list[bpy.types.Object]:
    """Poise's characters in the file."""
    return [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and "poise_kind" in obj]


def motions() -> list[bpy.types.Object]:
    """Motion objects in the file."""
    return [obj for obj in bpy.data.objects if obj.poise_motion.character is not None]


# -- states an animator brings a scene into --------------------------------------


def _rate(trial):
    render = bpy.context.scene.render
    render.fps = trial.rng.choice((12, 24, 25, 30, 48, 60, 120))
    render.fps_base = trial.rng.choice((1.0, 1.001, 0.5, 1.25))


def _gravity(trial):
    scene = bpy.context.scene
    if trial.chance(0.3):
        scene.use_gravity = False
    scene.gravity = trial.rng.choice(
        ((0, 0, 0), (0, 0, -9.81), (0, 0, -1.62), (3, 0, -9), (0, 0, 9.81))
    )


def _ranges(trial):
    scene, rng = bpy.context.scene, trial.rng
    scene.frame_start = rng.randint(0, 30)
    scene.frame_end = scene.frame_start + rng.randint(1, 30)
    scene.use_preview_range = trial.chance(0.5)
    if scene.use_preview_range:
        scene.frame_preview_start = rng.randint(-30, 10)
        scene.frame_preview_end = scene.frame_preview_start + rng.randint(1, 30)
    for motion in motions():
        # Without a preview range that choice is refused: leave it to the spoiled trials.
        modes = ("OWN", "SCENE", "PREVIEW") if scene.use_preview_range else ("OWN", "SCENE")
        motion.poise_motion.range_mode = rng.choice(modes)


def _frame(trial):
    bpy.context.scene.frame_set(trial.rng.randint(-50, 100), subframe=trial.rng.choice((0, 0.25)))


def _places(trial):
    rng = trial.rng
    for obj in motions() + characters():
        obj.location = [rng.uniform(-20, 20) for _ in range(3)]
        obj.rotation_euler = [rng.uniform(-3, 3) for _ in range(3)]
    for rig in characters():
        if trial.chance(0.3):
            rig.scale = [rig.scale[0] * rng.uniform(0.5, 2.0)] * 3
    for motion in motions():
        motion.scale = [rng.uniform(0.1, 3) for _ in range(3)]


def _parent(trial):
    rng = trial.rng
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location = (rng.uniform(-5, 5), 0, 1)
    parent.keyframe_insert("location", frame=1)
    parent.location.x += 3
    parent.keyframe_insert("location", frame=30)
    rng.choice(characters()).parent = parent


def _key_settings(trial):
    rng = trial.rng
    for motion in motions():
        settings = motion.poise_motion
        for name in rng.sample(GROUPS, 2):
            group = getattr(settings, name)
            numbers = [p for p in group.bl_rna.properties if p.type == "FLOAT" and p.is_animatable]
            for prop in rng.sample(numbers, min(3, len(numbers))):
                for frame in (settings.frame_start - 3, settings.frame_start + 17):
                    setattr(group, prop.identifier, _soft(rng, prop))
                    group.keyframe_insert(prop.identifier, frame=frame)
                trial.say(f"keys on {name}.{prop.identifier}")


def _drive_settings(trial):
    rng = trial.rng
    motion = rng.choice(motions())
    name, low, high = rng.choice(
        (("speed", 4, 12), ("heading", -0.5, 0.5), ("sharpness", 0.1, 0.4), ("slope", 0.1, 0.3))
    )
    curve = motion.driver_add(f"poise_motion.turns.{name}")
    curve.driver.expression = f"{low} + {high - low} * (0.5 + 0.01 * min(max(frame, -50), 50))"
    if trial.chance(0.1):
        curve.driver.expression = "no such name"
    trial.say(f"driver on turns.{name}")


def _strip_settings(trial):
    motion = trial.rng.choice(motions())
    turns = motion.poise_motion.turns
    for frame, speed in ((-10, 5.0), (60, 12.0)):
        turns.speed = speed
        turns.keyframe_insert("speed", frame=frame)
    data = motion.animation_data
    action, data.action = data.action, None
    strip = data.nla_tracks.new().strips.new("Speed", -10, action)
    strip.scale = trial.rng.choice((0.5, 1.0, 2.0))
    data.action = None


def _posed(trial):
    rng = trial.rng
    rig = rng.choice(characters())
    for bone in rng.sample(list(rig.pose.bones), 8):
        bone.rotation_mode = rng.choice(("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"))
        bone.location.x = 0.05


def _hand_keys(trial):
    rig = trial.rng.choice(characters())
    rig.pose.bones["head"].location.z = 0.1
    rig.pose.bones["head"].keyframe_insert("location", frame=trial.rng.choice((-100, 500)))
    rig.keyframe_insert("location", frame=5)
    if trial.chance(0.5):
        data = rig.animation_data
        data.nla_tracks.new().strips.new("Old", -30, data.action)
        data.action = None


def _several(trial):
    rng = trial.rng
    activate(rng.choice(characters()))
    for _ in range(rng.randint(1, 2)):
        bpy.ops.poise.motion_add(name=rng.choice(("", "Second", "Zweite Fahrt")))
    for motion in motions():
        settings = motion.poise_motion
        settings.frame_end = settings.frame_start + rng.choice((3, 12, 20))
    trial.say(f"{len(motions())} motions")


def _baked_before(trial):
    activate(trial.rng.choice(characters()))
    try:
        bpy.ops.poise.bake()
    except RuntimeError as refusal:
        trial.say(f"first bake refused: {sentence(refusal)}")
        return
    trial.say("baked before")
    rig = bpy.context.object
    if trial.chance(0.5) and rig.animation_data and rig.animation_data.action:
        action = rig.animation_data.action
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    curve = trial.rng.choice(list(bag.fcurves))
                    curve.keyframe_points[0].co.y += 0.1
        motion = trial.rng.choice(motions())
        motion.poise_motion.edited_keys = trial.rng.choice(
            ("ASK", "OVERWRITE", "KEEP_EDITS", "NEW_ACTION")
        )
        trial.say("one key edited")


def _along_a_path(trial):
    """A curve to follow, things in the way, gates; planned in most trials."""
    rng = trial.rng
    motion = rng.choice(motions())
    settings = motion.poise_motion
    settings.kind = "PATH"
    path = settings.path
    path.curve = _curve(trial, motion)
    path.speed = rng.uniform(3.0, 12.0) / bpy.context.scene.unit_settings.scale_length
    if trial.chance(0.6):
        path.obstacles = bpy.data.collections.new("Obstacles")
        bpy.context.scene.collection.children.link(path.obstacles)
        for _ in range(rng.randint(0, 6)):
            path.obstacles.objects.link(_obstacle(trial))
    if trial.chance(0.4):
        path.terrain = _terrain(trial, path.curve)
        path.speed_mode = rng.choice(("KEYED", "TERRAIN"))
    if settings.character is None or settings.character not in bpy.context.view_layer.objects[:]:
        return
    activate(settings.character)
    if trial.chance(0.3):
        trial.say(f"gates: {_refusal('slalom_course_add', spacing=rng.uniform(5, 30))}")
    if trial.chance(0.8):
        trial.say(f"plan: {_refusal('path_plan')}")


def _on_legs(trial):
    """Gaits in a row, speeds along the way, ground; footprints dragged about, mostly too far."""
    rng = trial.rng
    found = [m for m in motions() if legs_of(m)]
    if not found:
        return
    motion = rng.choice(found)
    settings, unit = motion.poise_motion, bpy.context.scene.unit_settings.scale_length
    settings.kind, gait = "GAIT", settings.gait
    if trial.chance(0.4):
        gait.path = _curve(trial, motion)
    if trial.chance(0.4):
        gait.terrain = _terrain(trial, gait.path)
    for name in rng.choices(gaits_for(len(legs_of(motion))), k=rng.randint(0, 3)):
        item = gait.add(name)
        item.start_by = rng.choice(("TIME", "DISTANCE"))
        item.start, item.distance = rng.uniform(0.0, 2.0), rng.uniform(0.0, 5.0) / unit
    for _ in range(rng.choice((0, 0, 1, 3))):
        gait.add_speed(rng.uniform(0.0, 4.0) / unit, rng.choice((0.0, 0.5, 2.0, 9.0)) / unit)
        gait.speed_by = "WAY"
    character = settings.character
    if trial.chance(0.4) or character is None:
        return
    if character not in bpy.context.view_layer.objects[:]:
        return
    activate(character)
    trial.say(f"footprints: {_refusal('footprints_edit')}")
    shown = [obj for obj in bpy.data.objects if obj.poise_footprint.motion == motion]
    for obj in rng.sample(shown, min(len(shown), rng.randint(1, 4))):
        obj.location.x += rng.choice((0.05, -0.3, 3.0, 1e4)) / unit
        obj.location.y += rng.choice((0.0, 0.1, -2.0, 40.0)) / unit
        obj.location.z += rng.choice((0.0, 0.0, 0.1, -1.5)) / unit
        obj.rotation_euler.z += rng.choice((0.0, 0.4, 3.0))
        if trial.chance(0.3):
            obj.poise_footprint.on += rng.choice((0.05, -0.3, -5.0, 50.0))
            obj.poise_footprint.off += rng.choice((0.05, -2.0))
        obj.select_set(True)
    name = rng.choice(("adapt", "adapt", "mirror", "bend", "scale", "retime", "copy"))
    trial.say(f"{name}: {_refusal(f'footprints_{name}')}")


def _posing(trial):
    """Poses to reach, chains that swing, balls; on top of a bake of another motion, or not."""
    rng, rig = trial.rng, trial.rng.choice(characters())
    if rig not in bpy.context.view_layer.objects[:]:
        return
    activate(rig)
    if trial.chance(0.4):
        trial.say(f"below: {_refusal('bake')}")
    trial.say(f"posing: {_refusal('motion_add', kind='POSE_TIMING')}")
    names = rng.sample(rig.pose.bones.keys(), min(rng.randint(0, 4), len(rig.pose.bones)))
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in names)
    rig.data.bones.active = rig.data.bones.get(rng.choice(names)) if names else None
    motion = rig.poise.motion_object
    start = 1 if motion is None else motion.poise_motion.frame_start
    for _ in range(rng.choice((0, 1, 1, 2))):
        bpy.context.scene.frame_set(start + rng.choice((-3, 0, 3, 9, 9, 200)))
        for name in names:
            bone = rig.pose.bones[name]
            bone.rotation_quaternion = [rng.uniform(-1.0, 1.0) for _ in range(4)]
        source = rng.choice(("POSE", "POSE", "KEYS", "MARKERS", "OBJECT", "ASSET"))
        mine = [action for action in bpy.data.actions if action.library is None]
        if source == "ASSET" and mine and trial.chance(0.7):
            rng.choice(mine).asset_mark()
        flipped = trial.chance(0.3)
        trial.say(
            f"target from {source}: {_refusal('target_add', source=source, flipped=flipped)}"
        )
    if trial.chance(0.4):
        trial.say(f"overlap: {_refusal('overlap_add', ratio=rng.uniform(0.05, 1.0))}")
    if trial.chance(0.4):
        kind = rng.choice(("BALL", "WEIGHT", "PUSH", "SHAKE"))
        trial.say(f"{kind}: {_refusal('disturbance_add', kind=kind)}")
    if trial.chance(0.3):
        trial.say(f"check: {_refusal('pose_check')}")


def _controlled(trial):
    """Controllers of a figure and lines of a script, some of them of no use; or a chain of bones
    that becomes a figure."""
    figures = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and "poise_machine" in obj]
    rng, rig = trial.rng, trial.rng.choice(characters() + figures)
    if rig not in bpy.context.view_layer.objects[:]:
        return
    activate(rig)
    if trial.chance(0.2):
        names = rng.sample(rig.pose.bones.keys(), min(rng.randint(1, 4), len(rig.pose.bones)))
        for bone in rig.pose.bones:
            compat.select_bone(bone, bone.name in names)
        trial.say(f"figure: {_refusal('figure_setup')}")
    for _ in range(rng.choice((1, 1, 2))):
        library = rng.choice(("A", "B", "D", "", "Z", "Torques", "Torques"))
        trial.say(f"controller {library}: {_refusal('controller_add', library=library)}")
        until = rng.choice(("TIME", "REACHED", "REGION", "WHENEVER"))
        seconds = rng.uniform(0.05, 2.0)
        trial.say(f"line: {_refusal('script_add', until=until, seconds=seconds)}")
    for bone in rig.pose.bones:
        if trial.chance(0.3):
            bone.rotation_euler.x = rng.uniform(-4.0, 4.0)
    if trial.chance(0.5):
        trial.say(f"start: {_refusal('start_set')}")
    if trial.chance(0.3):
        trial.say(f"region: {_refusal('script_region', near=rng.uniform(0.01, 4.0))}")
    rig.data.bones.active = rig.data.bones.get(rng.choice(rig.pose.bones.keys()))
    if trial.chance(0.4):
        kind = rng.choice(("BALL", "WEIGHT", "PUSH", "SHAKE"))
        trial.say(f"{kind}: {_refusal('disturbance_add', kind=kind)}")
    if trial.chance(0.4):
        turned = {"link": rng.randint(1, 3), "angle": rng.uniform(-9.0, 9.0)}
        trial.say(f"start: {_refusal('start_drag', **turned)}")
    motion = rig.poise.motion_object
    if motion is None:
        return
    control = motion.poise_motion.control
    for item in control.controllers:
        for one in item.torques:
            one.held = rng.uniform(0.5 * one.low, 0.5 * one.high)
    for line in control.script:
        if trial.chance(0.3):
            line.others = rng.choice(("A, B", "Torques", ", ,", "Nobody"))
    control.seed, control.slew = rng.randint(0, 9), rng.choice((0.0, 0.0, 5.0))
    if trial.chance(0.3):
        control.obstacles = bpy.data.collections.new("In the Way")
        bpy.context.scene.collection.children.link(control.obstacles)
        for _ in range(rng.randint(1, 3)):
            thing = _obstacle(trial)
            thing.location = [x + rng.uniform(-1.5, 1.5) for x in rig.location]
            control.obstacles.objects.link(thing)
    if trial.sane:
        return
    control.clearance = rng.choice((0.0, 0.02, *NUMBERS))
    for item in control.controllers:
        for one in (*item.domain, *item.torques):
            if trial.chance(0.2):
                setattr(one, rng.choice(("low", "high", "effort", "held")), rng.choice(NUMBERS))
        for one in item.domain:
            if trial.chance(0.2):
                one.ends = rng.choice(("WRAP", "STOP"))
        if trial.chance(0.2):
            item.destinations.clear()
    for one in control.start:
        if trial.chance(0.2):
            one.value = rng.choice(NUMBERS)


def _terrain(trial, curve):
    """A mesh under a curve, or beside it: hills, holes, walls, faces of no use, or none."""
    rng = trial.rng
    kind = rng.choice(("HILLS", "HOLES", "WALLS", "RUBBISH", "EMPTY", "ASIDE", "LEVELS"))
    trial.say(f"terrain: {kind}")
    size, count = 120.0, 25
    points = [
        (size * (i / count - 0.5), size * (j / count - 0.5), 0.1 * j + rng.uniform(-0.3, 0.3))
        for i in range(count + 1)
        for j in range(count + 1)
    ]
    faces = [
        (i * (count + 1) + j, (i + 1) * (count + 1) + j, (i + 1) * (count + 1) + j + 1,
         i * (count + 1) + j + 1)[:: rng.choice((1, -1))]
        for i in range(count)
        for j in range(count)
        if kind != "HOLES" or rng.random() > 0.05
    ]
    if kind == "WALLS":
        points = [(x, y, z + (40.0 if rng.random() < 0.05 else 0.0)) for x, y, z in points]
    elif kind == "RUBBISH":
        points = [(x, y, float("nan") if rng.random() < 0.1 else z) for x, y, z in points]
    elif kind == "EMPTY":
        faces = []
    elif kind == "LEVELS":  # a deck over part of it, level or sloping into the ground
        rise = rng.choice((0.0, 0.05, 0.3))
        first = len(points)
        points += [(x, y, 0.6 + rise * (y + 40.0)) for x, y, _z in points]
        faces += [
            tuple(first + corner for corner in face) for face in faces if rng.random() < 0.9
        ]
    mesh = bpy.data.meshes.new("Terrain")
    mesh.from_pydata(points, [], faces)
    hill = bpy.data.objects.new("Terrain", mesh)
    bpy.context.scene.collection.objects.link(hill)
    unit = bpy.context.scene.unit_settings.scale_length
    hill.scale = (1.0 / unit,) * 3
    hill.rotation_euler.z = rng.uniform(0.0, 6.0)
    if curve is not None and kind != "ASIDE":
        hill.location = curve.matrix_world.translation
    else:
        hill.location.x = 500.0 / unit
    return hill


def _refusal(operator, **arguments):
    """Call an operator of Poise; what it refuses, or None."""
    try:
        getattr(bpy.ops.poise, operator)(**arguments)
    except RuntimeError as refusal:
        return sentence(refusal)


def _curve(trial, motion):
    """A curve ahead of a motion; in spoiled trials perhaps one that leads nowhere."""
    rng = trial.rng
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    kind = rng.choice(("POLY", "POLY", "BEZIER", "NURBS"))
    spacing = rng.uniform(6.0, 20.0)
    points = [
        (rng.uniform(-4.0, 4.0) if i else 0.0, -spacing * i, 0.0) for i in range(rng.randint(2, 6))
    ]
    if trial.chance(0.2):  # over and under itself
        points = [(0.0, -8.0, 0.0), (6.0, -20.0, 0.0), (-6.0, -32.0, 2.0), (-6.0, -20.0, 4.0),
                  (6.0, -32.0, 6.0), (0.0, -44.0, 6.0)]
        points.insert(0, (0.0, 0.0, 0.0))
    if not trial.sane:
        points = rng.choice((
            points, points[:1], [], points[:1] * 3, [p for p in points for _ in range(2)],
            points + points[::-1], [(math.nan, 0.0, 0.0), *points],
            [(0.0, -500.0 * i, 0.0) for i in range(3)], [(0.0, 0.0, -float(i)) for i in range(3)],
        ))
    for _ in range(1 if trial.chance(0.8) else 2):
        if not points:
            break
        spline = data.splines.new(kind)
        places = spline.bezier_points if kind == "BEZIER" else spline.points
        places.add(len(points) - 1)
        for place, point in zip(places, points, strict=True):
            place.co = point if kind == "BEZIER" else (*point, 1.0)
            if kind == "BEZIER":
                place.handle_left_type = place.handle_right_type = "AUTO"
        if kind == "NURBS":
            spline.use_endpoint_u = True
        spline.use_cyclic_u = trial.chance(0.15)
    way = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(way)
    way.location, way.rotation_euler.z = motion.location, motion.rotation_euler.z
    if trial.chance(0.2):
        way.scale = [rng.uniform(0.3, 3.0) for _ in range(3)]
    trial.say(f"{kind} curve of {len(points)} points")
    return way


def _obstacle(trial):
    """A block, an Empty, a wall, or something that is none of them."""
    rng = trial.rng
    kind = rng.choice(("BLOCK", "BLOCK", "EMPTY", "WALL", "NOTHING"))
    data = None
    if kind != "EMPTY":
        data = bpy.data.meshes.new(kind)
        corners = [(x, y, z) for z in (-1, 3) for y in (0, 1) for x in (0, 1)]
        faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
        if kind == "BLOCK":
            data.from_pydata(corners, [], faces)
        elif kind == "WALL":
            data.from_pydata([(0, 0, 0), (3, 1, 0)], [(0, 1)], [])
    obj = bpy.data.objects.new(kind, data)
    near = trial.sane or trial.chance(0.7)
    obj.location = (rng.uniform(2.0, 8.0) if near else 0.0, rng.uniform(-60.0, 0.0), 0.0)
    obj.scale = [rng.uniform(0.2, 2.0)] * 3
    return obj


def _mode(trial):
    rng = trial.rng
    rig = rng.choice(characters())
    what = rng.choice(("POSE", "MESH_EDIT", "WEIGHT", "SCULPT", "MOTION", "MESH", "CHILD"))
    trial.say(f"mode {what}")
    children = [child for child in rig.children if child.type == "MESH"]
    cube = bpy.data.objects.get("Cube")
    if what == "POSE":
        activate(rig)
        bpy.ops.object.mode_set(mode="POSE")
    elif what in ("MESH_EDIT", "WEIGHT", "SCULPT") and children:
        activate(rig, children[0])
        mode = {"MESH_EDIT": "EDIT", "WEIGHT": "WEIGHT_PAINT", "SCULPT": "SCULPT"}[what]
        bpy.ops.object.mode_set(mode=mode)
    elif what == "MOTION":
        activate(rng.choice(motions()))
    elif what == "MESH" and cube:
        activate(cube, rig)
    elif what == "CHILD" and children:
        activate(children[-1])


def _select_all(trial):
    activate(*bpy.context.view_layer.objects[:], trial.rng.choice(characters()))


def _own_equipment(trial):
    """Something of the animator's own as a ski, wheel or board."""
    from poise.addon.rigs.equipment import own_equipment

    rng = trial.rng
    rig = rng.choice(characters())
    if rig not in bpy.context.view_layer.objects[:]:
        return
    activate(rig)
    role = rng.choice(list(own_equipment.roles_of(rig)) or [""])
    thing = _obstacle(trial)
    bpy.context.scene.collection.objects.link(thing)
    if trial.chance(0.3):
        thing.parent = rng.choice([None, rig, bpy.data.objects.get("Cube")])
    place = rng.choice(("FIT", "REST", "POSE"))
    refusal = _refusal("equipment_attach", role=role, object=thing.name, place=place)
    trial.say(f"{thing.name} as {role} ({place}): {refusal}")


STATES = (
    (_rate, 0.35), (_gravity, 0.25), (_ranges, 0.3), (_frame, 0.3), (_places, 0.3),
    (_parent, 0.12), (_key_settings, 0.3), (_drive_settings, 0.12), (_strip_settings, 0.06),
    (_posed, 0.15), (_hand_keys, 0.15), (_several, 0.2),
    (_along_a_path, 0.2), (_baked_before, 0.2), (_own_equipment, 0.15),
    (_on_legs, 0.5), (_posing, 0.25), (_controlled, 0.3), (_select_all, 0.15), (_mode, 0.25),
)


# -- states that spoil something -------------------------------------------------


def _spoil_scale(trial):
    rig = trial.rng.choice(characters())
    rig.scale = trial.rng.choice(((0, 0, 0), (-1, 1, 1), (1, 1, 2), (1e-12,) * 3, (1e6,) * 3))


def _spoil_place(trial):
    obj = trial.rng.choice(characters() + motions())
    obj.location.x = trial.rng.choice((math.nan, math.inf, 1e30, 1e9))


def _spoil_visible(trial):
    rng = trial.rng
    obj = rng.choice(characters() + motions())
    what = rng.choice(("hide_viewport", "unlink", "hide_set", "exclude"))
    trial.say(f"{obj.name} {what}")
    if what == "hide_viewport":
        obj.hide_viewport = True
    elif what == "hide_set":
        obj.hide_set(True)
    elif what == "unlink":
        for collection in list(obj.users_collection):
            collection.objects.unlink(obj)
    else:
        collection = bpy.data.collections.new("Off")
        bpy.context.scene.collection.children.link(collection)
        for former in list(obj.users_collection):
            former.objects.unlink(obj)
        collection.objects.link(obj)
        bpy.context.view_layer.layer_collection.children["Off"].exclude = True


def _spoil_bones(trial):
    rng = trial.rng
    rig = rng.choice(characters())
    if rig not in bpy.context.view_layer.objects.values() or not rig.visible_get():
        return
    if bpy.ops.object.mode_set.poll():
        # Nobody gets to another object without leaving the mode of the first.
        bpy.ops.object.mode_set(mode="OBJECT")
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rng.choice(list(rig.data.edit_bones))
    trial.say(f"bone {bone.name} removed, renamed or connected")
    what = rng.choice(("remove", "rename", "connect", "stay"))
    if what == "remove":
        rig.data.edit_bones.remove(bone)
    elif what == "rename":
        bone.name = "骨"
    elif what == "connect" and bone.parent:
        bone.use_connect = True
    if what != "stay":
        bpy.ops.object.mode_set(mode="OBJECT")


def _spoil_constraints(trial):
    rng = trial.rng
    rig = rng.choice(characters())
    owner = rng.choice((rig, rng.choice(list(rig.pose.bones))))
    # No IK of its own: Blender starts from the last pose there, so undo looks different.
    kind = rng.choice(("FOLLOW_PATH", "CHILD_OF", "COPY_LOCATION", "LIMIT_ROTATION", "TRACK_TO"))
    try:
        constraint = owner.constraints.new(kind)
    except TypeError:
        return
    if hasattr(constraint, "target"):
        constraint.target = bpy.data.objects.get("Empty") or rig
    trial.say(f"{kind} on {owner.name}")


def _spoil_drivers(trial):
    rig = trial.rng.choice(characters())
    bone = trial.rng.choice(list(rig.pose.bones))
    bone.driver_add("location", 1)
    trial.say(f"driver on {bone.name}")


def _spoil_nla(trial):
    rng = trial.rng
    rig = rng.choice(characters())
    if rig.animation_data is not None and rig.animation_data.use_tweak_mode:
        return  # Blender lets nobody change the action there
    rig.keyframe_insert("location", frame=5)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("Old", 1, data.action)
    data.action = None
    what = rng.choice(("tweak", "solo", "off", "blend", "action without slot", "shared"))
    trial.say(f"NLA {what}")
    if what == "tweak":
        strip.select = True
        data.nla_tracks[0].select = True
        data.nla_tracks.active = data.nla_tracks[0]
        data.use_tweak_mode = True
    elif what == "solo":
        data.nla_tracks[0].is_solo = True
    elif what == "off":
        data.use_nla = False
    elif what == "blend":
        data.action = bpy.data.actions.new("Hand")
        data.action_blend_type, data.action_influence = "ADD", 0.5
    elif what == "action without slot":
        data.action = bpy.data.actions.new("Slots")
        for name in "AB":
            data.action.slots.new(id_type="OBJECT", name=name)
        data.action_slot = None
    else:
        copy = rig.copy()
        bpy.context.scene.collection.objects.link(copy)


def _spoil_data(trial):
    """What only a script or a broken file leaves behind."""
    rng = trial.rng
    motion = rng.choice(motions())
    settings = motion.poise_motion
    rig = settings.character
    what = rng.randrange(13)
    trial.say(f"data spoiled: {what}")
    if what == 0:
        settings.record = rng.choice(("{", "[]", "null", '{"version": 99}', '{"target": 1}'))
    elif what == 1:
        settings.inputs = rng.choice(("{", "[]", "7", '{"settings": "x"}'))
    elif what == 2:
        settings.character = bpy.data.objects.get("Foreign")
    elif what == 3:
        settings.after = rng.choice((motion, bpy.data.objects.get("Empty"), rig))
    elif what == 4:
        bpy.data.objects["Skier" if "Skier" in bpy.data.objects else rig.name].name = "x" * 80
    elif what == 5:
        del rig[rng.choice(("poise_kind", "poise_height", "poise_mass"))]
    elif what == 6:
        rig["poise_mass"] = rng.choice((0.0, -5.0, math.nan, "heavy"))
    elif what == 7:
        _delete([rig])
    elif what == 8:
        bpy.data.objects.remove(motion)
    elif what == 9:
        _delete(list(rig.children))
    elif what == 10:
        if settings.bake_action is not None:
            bpy.data.actions.remove(settings.bake_action)
    elif what == 11:
        copy = motion.copy()
        bpy.context.scene.collection.objects.link(copy)
    else:
        item = settings.problems.add()
        item.fix = rng.choice(("", '[["turns.speed", 7.0]]', '[["skier.twist", 0.1]]'))
        item.bone, item.has_frame, item.frame = "no bone", True, rng.choice((-30.25, 3.5))


def _delete(objects):
    """Delete objects, as the Outliner does: it leaves edit mode of what it deletes first.

    Otherwise the edited mesh stays half in edit mode with no object to leave it.
    """
    active = bpy.context.view_layer.objects.active
    if active in objects and active.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for obj in objects:
        bpy.data.objects.remove(obj)


def _spoil_range(trial):
    settings = trial.rng.choice(motions()).poise_motion
    settings.range_mode = trial.rng.choice(("OWN", "OWN", "OWN", "SCENE", "PREVIEW"))
    settings.frame_start, settings.frame_end = trial.rng.choice(
        ((10, 10), (10, 5), (1, 2_000_000), (-2_000_000, -1_999_990), (2_000_000, 2_000_010),
         (-(2**31), 2**31 - 1), (1, 1500))
    )


def _spoil_scene(trial):
    rng, scene = trial.rng, bpy.context.scene
    what = rng.randrange(5)
    trial.say(f"scene spoiled: {what}")
    if what == 0:
        scene.gravity = rng.choice(((0, 0, -1e6), (math.nan, 0, 0), (0, 0, -1e-4)))
    elif what == 1:
        scene.unit_settings.scale_length = rng.choice((1e-5, 1e5, 0.01))
    elif what == 2:
        scene.render.fps, scene.render.fps_base = rng.choice(((1, 1e6), (1, 100.0), (32767, 0.1)))
    elif what == 3:
        activate()
    else:
        activate(rng.choice([o for o in bpy.context.view_layer.objects if o.name != "Skier"]))


SPOILERS = (
    _spoil_scale, _spoil_place, _spoil_visible, _spoil_bones, _spoil_constraints, _spoil_drivers,
    _spoil_nla, _spoil_data, _spoil_data, _spoil_range, _spoil_scene,
)


def set_scene(trial: Trial) -> None:
    """Bring the scene into a random state, and spoil it in some trials."""
    for state, share in STATES:
        if trial.chance(share) and characters() and motions():
            trial.say(state.__name__.strip("_"))
            state(trial)
    if not trial.sane:
        for _ in range(trial.rng.randint(0, 2)):
            if characters() and motions():
                spoil = trial.rng.choice(SPOILERS)
                trial.say(spoil.__name__.strip("_"))
                spoil(trial)
                # What was hidden or unlinked is still in the view layer until then.
                bpy.context.view_layer.update()


# -- settings ----------------------------------------------------------------------


def _soft(rng, prop):
    """A value that the slider reaches."""
    low, high = prop.soft_min, prop.soft_max
    if high - low > 1e5:
        # Without a soft range of its own: near the default.
        low, high = prop.default - 10 - abs(prop.default), prop.default + 10 + abs(prop.default)
        low = max(low, prop.hard_min)
    if prop.type == "INT":
        return rng.randint(int(low), int(high))
    return rng.choice((low, high)) if rng.random() < 0.06 else rng.uniform(low, high)


def _wild(rng, prop):
    """A value at or beyond the limits, or none at all."""
    if prop.type == "INT":
        return rng.choice((prop.hard_min, prop.hard_max, -1, 0, 7, 2**31 - 1))
    return rng.choice((*NUMBERS, prop.hard_min, prop.hard_max, 2 * prop.soft_max, -prop.soft_max))


def random_value(trial, prop, wild=False):
    """A value for a property, of its type.

    Args:
        trial: the trial.
        prop: the property's RNA.
        wild: beyond what the slider reaches.
    """
    rng = trial.rng
    if prop.type == "BOOLEAN":
        return rng.random() < 0.5
    if prop.type == "ENUM":
        items = [item.identifier for item in prop.enum_items]
        if prop.is_enum_flag:
            return set(rng.sample(items, rng.randint(0 if wild else 1, len(items))))
        return rng.choice(items)
    if prop.type in ("FLOAT", "INT"):
        one = _wild if wild else _soft
        if prop.is_array:
            return [one(rng, prop) for _ in range(prop.array_length)]
        return one(rng, prop)
    if prop.type == "STRING":
        return rng.choice(TEXTS)
    if prop.type == "POINTER":
        of_type = prop.fixed_type.identifier
        source = {"Object": bpy.data.objects, "Action": bpy.data.actions}.get(of_type, ())
        return rng.choice([None, *source])
    raise AssertionError(f"no random value for {prop.identifier} of type {prop.type}")


# Settings whose random value would refuse nearly every bake: only in spoiled trials,
# as are all that point to an object or an action.
DELICATE = {
    "record", "inputs", "frame_start", "frame_end", "duration", "range_mode", "data_version",
}

# No settings: groups are set on their own, problems are the result of a bake.
SKIPPED = {"rna_type", "name", "problems", "live_bake", *GROUPS}


def settings_of(motion) -> list[tuple[object, object]]:
    """(group, property) of every setting of a motion, old and new ones."""
    settings = motion.poise_motion
    found = []
    groups = [settings, *(getattr(settings, name) for name in GROUPS)]
    for item in settings.gait.sequence:
        groups += [item, *item.legs]
    groups += settings.gait.speed_points
    for name in ("targets", "bones", "disturbances", "overlaps"):
        groups += getattr(settings.pose_timing, name)
    for group in groups:
        found += [
            (group, prop)
            for prop in group.bl_rna.properties
            if prop.identifier not in SKIPPED and not prop.is_readonly
        ]
    return found


def _consistent(settings) -> None:
    """Put right what contradicts itself by chance: a lean beyond the fall, no path to follow."""
    able = families.kinds_for(Actor.of(settings.character))
    poses = settings.pose_timing
    if (
        settings.kind not in able
        or (settings.kind == "PATH" and settings.path.curve is None)
        or (settings.kind == "POSE_TIMING" and not (len(poses.targets) or len(poses.overlaps)))
    ):
        settings.kind = able[0]
    if settings.kind == "POSE_TIMING":
        settings.after = None
    if settings.kind == "GAIT":
        _consistent_gait(settings)
    turns = settings.turns
    turns.sharpness = min(turns.sharpness, 0.95 * turns.fall_angle)


def _consistent_gait(settings) -> None:
    """Gaits that these legs can do, strides that take some time, and ground that can be seen."""
    gait = settings.gait
    able = gaits_for(len(legs_of(settings.id_data)))
    for item in gait.sequence:
        if item.gait not in able:
            item.gait = able[0]
        item.stroke, item.period = max(item.stroke, 0.05), max(item.period, 0.1)
    if not len(gait.sequence):
        gait.add(able[0])
    if gait.path is not None and len(gait.path.data.splines) != 1:
        gait.path = None
    if gait.path is not None or gait.terrain is not None or len(gait.footprints):
        gait.cycle = False
    gait.speed = min(gait.speed, 30.0)
    for number, point in enumerate(gait.speed_points):
        point.distance, point.speed = 2.0 * number + point.distance % 1.9, min(point.speed, 30.0)
    if gait.speed_by == "WAY" and not len(gait.speed_points):
        gait.add_speed(0.0, gait.speed)


def set_settings(trial: Trial) -> None:
    """Set a random part of all settings."""
    rng = trial.rng
    for motion in motions():
        everything = settings_of(motion)
        share = rng.choice((0.05, 0.3, 1.0))
        for group, prop in everything:
            delicate = prop.identifier in DELICATE or prop.type == "POINTER"
            if not trial.chance(share) or (delicate and (trial.sane or not trial.chance(0.1))):
                continue
            assign(trial, group, prop, random_value(trial, prop))
        if not trial.sane and trial.chance(0.7):
            for group, prop in rng.sample(everything, rng.randint(1, 3)):
                assign(trial, group, prop, random_value(trial, prop, wild=True))
        if trial.sane:
            _consistent(motion.poise_motion)


def assign(trial: Trial, group, prop, value) -> None:
    """Set a property; what Blender itself refuses is no concern of Poise."""
    try:
        setattr(group, prop.identifier, value)
    except (TypeError, ValueError, OverflowError) as error:
        trial.say(f"Blender refuses {prop.identifier} = {value!r}: {error}")
        return
    if not trial.sane:
        trial.say(f"{prop.identifier} = {value!r}")


# -- operators -----------------------------------------------------------------------


def operators() -> list[str]:
    """Every operator of Poise, old and new ones."""
    return sorted(dir(bpy.ops.poise))


def random_call(trial: Trial) -> tuple[str, dict]:
    """An operator and random arguments for it."""
    rng = trial.rng
    while True:
        name = rng.choice(operators())
        if trial.chance(RARE.get(name, 1.0)):
            break
    arguments = {}
    for prop in getattr(bpy.ops.poise, name).get_rna_type().properties:
        if prop.identifier == "rna_type" or prop.is_readonly or not trial.chance(0.6):
            continue
        arguments[prop.identifier] = argument(trial, name, prop)
    if name == "playblast":
        render = bpy.context.scene.render
        render.resolution_x = render.resolution_y = 32
        arguments["percentage"] = 100.0
    return name, arguments


def argument(trial: Trial, operator: str, prop):
    """A value for an argument; files stay in the trial's folder, or cannot be written."""
    rng = trial.rng
    if prop.identifier in ("filepath", "directory"):
        inside = trial.folder / rng.choice(("a.svg", "b.png", "c.txt", "d", "e.mp4"))
        return rng.choice((str(inside), str(trial.folder / "no" / "such.svg"), "/dev/null/x.svg"))
    if prop.identifier == "menu_idname":
        return ""
    if prop.identifier == "name" and operator == "motion_activate":
        return rng.choice([obj.name for obj in bpy.data.objects] + list(TEXTS))
    return random_value(trial, prop, wild=not trial.sane and trial.chance(0.3))


# -- what must hold ------------------------------------------------------------------


def broken_keys() -> list[str]:
    """Curves with a key or handle that is no finite number, in all actions."""
    found = []
    for action in bpy.data.actions:
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    for curve in bag.fcurves:
                        points = curve.keyframe_points
                        for name in ("co", "handle_left", "handle_right"):
                            flat = np.empty(2 * len(points), np.float32)
                            points.foreach_get(name, flat)
                            if not np.isfinite(flat).all():
                                found.append(f"{action.name}: {curve.data_path} {name}")
    return found


_NUMBER = re.compile(r"-?\d[\d.,e+-]*|\bnan\b|-?\binf\b")
_NAMES = re.compile(
    r"\b(Skier|Snowboarder|Horse|Dog|Person|Insect|Second|Zweite Fahrt|Foreign|x{20,}|Motion)"
    r"(\.\d+)?\b"
)


def template(message: str) -> str:
    """A refusal without its names and numbers, to be counted."""
    text = message.strip().removeprefix("Error: ")
    text = _NUMBER.sub("#", _NAMES.sub("@", text))
    return re.sub(r"(@ ?)+", "@ ", text)[:150]
