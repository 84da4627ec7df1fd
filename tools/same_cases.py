# SPDX-License-Identifier: GPL-3.0-or-later
"""The bakes that tools/same.py records: a small function each, which begins in an empty file.

A function yields where what it made is to be recorded: nothing, where there is one record of
it; the name of each where there are several; or a name and the lines of text that count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from math import pi, radians
from pathlib import Path

import belongings
import bpy
import cat
import gait_scenes
import mannequin
import numpy as np
import operators_help
import path_scenes
import rig_files
import scenes
from snapshot import diff

Case = Callable[[], Iterator]
CASES: dict[str, Case] = {}
LEFT_OUT: list[str] = []
"""Cases whose rig is not there."""

FRAMES = 37
KEYS = ("DENSE", "SPARSE")
RIDERS = ("SKIER", "TELEMARK", "SNOWBOARDER", "SKATEBOARDER", "CYCLIST")
WALKERS = ("HORSE", "DOG", "BIPED", "INSECT")
WINDING = ((0.0, 0.0), (1.5, -7.0), (-1.0, -14.0))

OWN_RIGS = (
    ("cesiumman/CesiumMan_lab0.glb", "SNOWBOARDER"), ("riggedfigure/RiggedFigure.gltf", "TELEMARK"),
    ("quaternius_man/Casual.glb", "CYCLIST"), ("quaternius_man/Casual.glb", "BIPED"),
    ("m2m/human-skeleton.glb", "SKIER"), ("m2m/human-skeleton.glb", "SKATEBOARDER"),
    ("cmu_walk/02_01.bvh", "SKIER"), ("animateddrawings_bvh/zombie.bvh", "BIPED"),
    ("fox/Fox.glb", "DOG"), ("quaternius_animals/Horse.glb", "HORSE"),
    ("quaternius_animals/Wolf.glb", "DOG"), ("rigify_human.blend", "SKIER"),
    ("rigify_human.blend", "BIPED"), ("rigify_horse.blend", "HORSE"),
)
PUT_AWAY = (
    ("quaternius_man/Casual.glb", "SKIER"), ("fox/Fox.glb", "DOG"),
    ("rigify_human.blend", "CYCLIST"),
)

# Of a data-block in this process alone.
NOT_SAVED = (r"session_uid$",)


def cases(title: str, rows: Iterable[tuple[str, ...]] = ((),)) -> Callable[[Case], Case]:
    """Enter a function into the table, once for each row of arguments.

    Args:
        title: what the names of these cases begin with.
        rows: arguments; a file that is not there leaves its row out.
    """

    def enter(function: Case) -> Case:
        for row in rows:
            name = " ".join((title, *(Path(part).stem for part in row)))
            if any("." in part and not (rig_files.FOLDER / part).is_file() for part in row):
                LEFT_OUT.append(name)
            else:
                CASES[name] = partial(function, *row)
        return function

    return enter


def character(kind: str, keys: str = "DENSE", frames: int = FRAMES, **turns):
    """A character of Poise's own in a new file; its armature.

    Args:
        kind: kind of character.
        keys: how it is keyed.
        frames: how long its motion is, from frame 1.
        turns: settings of its turns.
    """
    rig, motion = operators_help.load(kind, frames, **turns)
    motion.poise_motion.key_mode = keys
    return rig


def walker(kind: str, frames: int = FRAMES, **gait):
    """A character on legs in a new file; its armature.

    Args:
        kind: kind of character.
        frames: how long its motion is, from frame 1.
        gait: settings of its gait.
    """
    rig = character(kind, frames=frames)
    for name, value in gait.items():
        setattr(rig.poise.gait, name, value)
    return rig


def follower(kind: str, keys: str = "DENSE", places=WINDING, **path):
    """A rider on a curve in a new file; its armature.

    Args:
        kind: kind of character.
        keys: how it is keyed.
        places: of the curve, metres.
        path: settings of its path.
    """
    rig = character(kind, keys)
    rig.poise.motion = "PATH"
    rig.poise.path.curve = scenes.curve(bpy.context.scene, places)
    for name, value in path.items():
        setattr(rig.poise.path, name, value)
    return rig


def planned() -> None:
    """Plan the path of the active character and bake it."""
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()


def slope(x, y):
    """Height of a hillside with low rolls, metres."""
    return 0.2 * y + 0.12 * np.sin(0.9 * y + 0.4 * x)


def hillside(height=slope, low=(-8.0, -26.0), high=(8.0, 6.0)):
    """Uneven ground, a mesh object.

    Args:
        height: (x, y) -> z, metres.
        low: (2,) its corner, metres.
        high: (2,) the other one, metres.
    """
    colours = (gait_scenes.GRASS, gait_scenes.EARTH)
    return gait_scenes.field(bpy.context.scene, "Ground", height, low, high, 0.5, colours)


# -- riders --------------------------------------------------------------------------


@cases("turns", product(RIDERS, KEYS))
def turns(kind, keys):
    character(kind, keys)
    bpy.ops.poise.bake()
    yield


@cases("path", product(RIDERS, KEYS))
def path(kind, keys):
    follower(kind, keys)
    planned()
    yield


@cases("turns mirrored", (("SKIER",), ("CYCLIST",)))
def turns_mirrored(kind):
    character(kind).poise.settings.mirror = True
    bpy.ops.poise.bake()
    yield


@cases("turns keyed")
def turns_keyed():
    group = character("SKIER", "SPARSE", irregularity=0.25, irregularity_seed=7).poise.turns
    scenes.key(group, "speed", (0.0, 6.0), (1.5, 9.0))
    scenes.key(group, "heading", (0.0, 0.0), (1.0, 0.5))
    scenes.key(group, "sharpness", (0.0, radians(15.0)), (1.5, radians(35.0)))
    bpy.ops.poise.bake()
    yield


@cases("turns down a slope")
def turns_down_a_slope():
    character("SNOWBOARDER", speed_mode="SLOPE", speed=4.0, slope=radians(18.0))
    bpy.ops.poise.bake()
    yield


@cases("turns goofy")
def turns_goofy():
    bpy.ops.poise.character_add(kind="SNOWBOARDER", goofy=True)
    bpy.context.object.poise.settings.frame_end = FRAMES
    bpy.ops.poise.bake()
    yield


@cases("turns in centimetres at 30 frames a second")
def turns_in_centimetres():
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.render.fps = 0.01, 30
    operators_help.add("SKIER", FRAMES)
    bpy.ops.poise.bake()
    yield


@cases("turns from another place")
def turns_from_another_place():
    rig = character("TELEMARK")
    motion = rig.poise.motion_object
    motion.location, motion.rotation_euler = (3.0, -2.0, 1.0), (0.0, 0.0, 1.2)
    rig.location, rig.rotation_euler = (-1.0, 0.5, 0.0), (0.0, 0.0, -0.7)
    bpy.ops.poise.bake()
    yield


@cases("turns out of the saddle")
def turns_out_of_the_saddle():
    scenes.key(character("CYCLIST").poise.cyclist, "stand", (0.0, 0.0), (0.7, 1.0))
    bpy.ops.poise.bake()
    yield


@cases("path among trees")
def path_among_trees():
    group = follower("SKIER", places=((0.0, 0.0), (0.0, -15.0)), speed=6.0).poise.path
    group.obstacles = bpy.data.collections.new("Trees")
    bpy.context.scene.collection.children.link(group.obstacles)
    angle = np.arange(8) * pi / 4.0
    ring = 0.3 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    for place in ((0.6, -8.0), (-1.2, -13.0)):
        bark = bpy.data.materials.new("Bark")
        path_scenes.prism(group.obstacles, "Tree", ring + place, -0.5, 4.0, bark)
    planned()
    yield


@cases("path through gates")
def path_through_gates():
    follower("SNOWBOARDER", places=((0.0, 0.0), (0.0, -34.0)), speed=11.0)
    bpy.ops.poise.slalom_course_add(spacing=8.0, offset=0.5, width=4.0)
    planned()
    yield


@cases("path on terrain", (("KEYED",), ("TERRAIN",)))
def path_on_terrain(speed):
    group = follower("SKIER", speed_mode=speed).poise.path
    group.terrain = hillside()
    planned()
    yield


# -- on legs -------------------------------------------------------------------------


@cases("gait", product(WALKERS, KEYS))
def gait(kind, keys):
    character(kind, keys)
    bpy.ops.poise.bake()
    yield


@cases("gaits one after another")
def gaits_one_after_another():
    walker("HORSE", 49, speed=3.5).poise.gait.sequence[0].gait = "TROT"
    bpy.ops.poise.gait_add(preset="CANTER_LEFT", start=0.8)
    bpy.ops.poise.bake()
    yield


@cases("gaits by speed")
def gaits_by_speed():
    rig = walker("DOG", 49, mode="AUTOMATIC")
    scenes.key(rig.poise.gait, "speed", (0.0, 1.0), (2.0, 5.0), interpolation="LINEAR")
    bpy.ops.poise.bake()
    yield


@cases("gait to a halt")
def gait_to_a_halt():
    rig = walker("BIPED", 49)
    scenes.key(rig.poise.gait, "speed", (0.0, 1.35), (0.6, 1.35), (1.3, 0.0))
    bpy.ops.poise.bake()
    yield


@cases("gait along a path", (("HORSE",), ("BIPED",)))
def gait_along_a_path(kind):
    way = ((0.0, 0.0), (0.0, -1.5), (1.0, -3.0), (3.0, -4.0))
    group = walker(kind).poise.gait
    group.path = scenes.curve(bpy.context.scene, way)
    bpy.ops.poise.bake()
    yield


@cases("gait on terrain", (("DOG",), ("INSECT",)))
def gait_on_terrain(kind):
    group = walker(kind).poise.gait
    group.terrain = hillside(gait_scenes.rolling)
    bpy.ops.poise.bake()
    yield


@cases("gait on stairs")
def gait_on_stairs():
    group = walker("BIPED", 49, speed=0.7).poise.gait
    group.terrain = gait_scenes.stairs(bpy.context.scene)
    group.path = scenes.curve(bpy.context.scene, ((0.0, -2.4), (0.0, -8.0)))
    group.sequence[0].stride_by, group.sequence[0].stroke = "STROKE", 1.22 * gait_scenes.TREAD
    bpy.ops.poise.bake()
    yield


@cases("gait with speed points")
def gait_with_speed_points():
    walker("HORSE", speed_by="WAY")
    for distance, speed in ((0.0, 1.4), (1.5, 2.0)):
        bpy.ops.poise.gait_speed_add(distance=distance, speed=speed)
    bpy.ops.poise.bake()
    yield


@cases("gait mirrored")
def gait_mirrored():
    walker("HORSE", speed=6.0).poise.gait.sequence[0].gait = "CANTER_LEFT"
    bpy.ops.poise.gait_mirror()
    bpy.ops.poise.bake()
    yield


@cases("cycle", product(("IN_PLACE", "TRAVELS"), KEYS))
def cycle(how, keys):
    character("HORSE", keys)
    bpy.ops.poise.gait_cycle(in_place=how == "IN_PLACE")
    bpy.ops.poise.bake()
    yield


@cases("cycle of a skip")
def cycle_of_a_skip():
    walker("BIPED").poise.gait.sequence[0].gait = "SKIP"
    bpy.ops.poise.gait_cycle()
    bpy.ops.poise.bake()
    yield


# -- footprints ----------------------------------------------------------------------


def footprints(rig, least: int = 1):
    """Show the footprints of a character; those from a step on, in order of step and leg.

    Args:
        rig: its armature.
        least: number of the first step.
    """
    bpy.ops.poise.footprints_edit()
    shown = [obj for obj in bpy.data.objects if obj.poise_footprint.motion is not None]
    shown = [obj for obj in shown if obj.poise_footprint.index >= least]
    return sorted(shown, key=lambda o: (o.poise_footprint.index, o.poise_footprint.leg))


def edited(rig) -> None:
    """Bake a character whose footprints were edited.

    Args:
        rig: its armature.
    """
    operators_help.activate(rig)
    bpy.ops.poise.bake()


@cases("footprint moved", product(("HORSE", "BIPED"), ("FREE", "KEEP_BODY")))
def footprint_moved(kind, kept):
    rig = walker(kind, 61, keep_body=kept == "KEEP_BODY")
    first = footprints(rig)[0]
    first.location.x += 0.06
    first.rotation_mode = "XYZ"
    first.rotation_euler.z += 0.2
    bpy.ops.poise.footprints_adapt()
    edited(rig)
    yield


@cases("footprints changed", (("bend",), ("scale",), ("retime",)))
def footprints_changed(how):
    rig = walker("HORSE", 61)
    operators_help.activate(*footprints(rig))
    amounts = {"bend": {"angle": radians(20.0)}, "scale": {"factor": 1.1}, "retime": {"shift": 0.1}}
    operators_help.call(f"footprints_{how}")(**amounts[how])
    edited(rig)
    yield


# -- several motions, actions and strips -----------------------------------------------


@cases("several motions", (("SKIER",), ("HORSE",)))
def several_motions(kind):
    character(kind)
    bpy.ops.poise.motion_add(name="Second")
    second = bpy.context.object.poise.settings
    second.frame_end = second.frame_start + FRAMES - 1
    second.turns.heading, second.skier.knee_flexion = 0.4, 0.95
    bpy.ops.poise.bake_all()
    yield


@cases("arms on top")
def arms_on_top():
    rig = character("SKIER")
    below = rig.poise.motion_object
    bpy.ops.poise.motion_add(name="Arms")
    arms = rig.poise.settings
    arms.after, arms.base, arms.body_parts = None, below, {"ARMS"}
    arms.skier.hand_forward = 0.5
    bpy.ops.poise.bake_all()
    yield


@cases("legs alone")
def legs_alone():
    character("SKIER").poise.settings.body_parts = {"TRAVEL", "LEGS"}
    bpy.ops.poise.bake()
    yield


@cases("on a strip", product(("SKIER", "HORSE"), KEYS))
def on_a_strip(kind, keys):
    character(kind, keys).poise.settings.push_to_nla = True
    bpy.ops.poise.bake()
    yield


@cases("into the current action")
def into_the_current_action():
    rig = character("CYCLIST")
    rig.pose.bones["head"].keyframe_insert("location", frame=1)
    rig.pose.bones["pelvis"].keyframe_insert("location", frame=50)
    rig.poise.settings.target = "CURRENT"
    bpy.ops.poise.bake()
    yield


@cases("edits kept")
def edits_kept():
    rig = character("SKIER")
    bpy.ops.poise.bake()
    curve = next(c for c in operators_help.curves_of(rig) if "pelvis" in c.data_path)
    for point in curve.keyframe_points[8:14]:
        point.co.y += 0.05
    curve.update()
    rig.poise.turns.frequency *= 1.2
    bpy.ops.poise.bake(edited_keys="KEEP_EDITS")
    yield


@cases("baked again and cleared", (("SKIER",), ("DOG",)))
def baked_again_and_cleared(kind):
    rig = character(kind)
    before = operators_help.settled()
    bpy.ops.poise.bake()
    rig.poise.settings.key_mode = "SPARSE"
    bpy.ops.poise.bake()
    yield "again"
    rig.poise.settings.key_mode = "DENSE"
    bpy.ops.poise.bake_clear()
    yield "cleared", diff(before, operators_help.settled(), NOT_SAVED)


# -- rigs of others --------------------------------------------------------------------


def set_up(kind: str, **settings):
    """Set the active armature up; its armature.

    Args:
        kind: what it is to do.
        settings: of its motion.
    """
    rig = bpy.context.view_layer.objects.active
    bpy.ops.poise.rig_setup(kind=kind)
    motion = rig.poise.settings
    motion.frame_start, motion.frame_end = 1, FRAMES
    for name, value in settings.items():
        setattr(motion, name, value)
    return rig


def with_root() -> None:
    """A mannequin with a bone on the ground below it; active."""
    rig = mannequin.make()
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("Root")
    root.tail = (0.0, 0.3, 0.0)
    rig.data.edit_bones["Hips"].parent = root
    bpy.ops.object.mode_set(mode="OBJECT")


def by_controls_and_bones() -> Iterator[str]:
    """Bake the active rig on its controls, then on its bones."""
    bpy.ops.poise.bake()
    yield "controls"
    bpy.ops.poise.bake_to_bones()
    yield "bones"


@cases("own rig", OWN_RIGS)
def own_rig(file, kind):
    rig_files.bring_in(file)
    set_up(kind)
    yield from by_controls_and_bones()


@cases("own rig sparse", (("quaternius_man/Casual.glb", "SKIER"), ("rigify_horse.blend", "HORSE")))
def own_rig_sparse(file, kind):
    rig_files.bring_in(file)
    set_up(kind, key_mode="SPARSE")
    yield from by_controls_and_bones()


@cases("own rig rigify_cat")
def rigify_cat():
    cat.make()
    set_up("DOG")
    yield from by_controls_and_bones()


@cases("mannequin", product(("SKIER", "BIPED"), ("ROOT", "OBJECT", "SPLIT", "HIPS", "IN_PLACE")))
def root_motion(kind, carrier):
    with_root()
    set_up(kind, root_motion=carrier)
    bpy.ops.poise.bake_to_bones()
    yield


@cases("mannequin between frames", (("NONE",), ("ANYWHERE",)))
def keys_between(which):
    with_root()
    set_up("BIPED", keys_between=which, key_mode="SPARSE")
    bpy.ops.poise.bake_to_bones()
    yield


@cases("mannequin on things of its own", (("SKIER",), ("CYCLIST",)))
def things_of_its_own(kind):
    rig = mannequin.make()
    set_up(kind)
    if kind == "CYCLIST":
        things = belongings.bicycle()
    else:
        things = {f"ski.{side}": belongings.ski(f"Ski {side}") for side in "LR"}
        things |= {f"pole.{side}": belongings.pole(f"Pole {side}") for side in "LR"}
    operators_help.activate(rig)
    for role, thing in things.items():
        bpy.ops.poise.equipment_attach(role=role, object=thing.name)
    yield from by_controls_and_bones()


# -- set up and put away ---------------------------------------------------------------


@cases("added", product((*RIDERS, *WALKERS)))
def added(kind):
    before = operators_help.settled()
    bpy.ops.poise.character_add(kind=kind)
    yield "", diff(before, operators_help.settled(), NOT_SAVED)


@cases("put away", (*PUT_AWAY, ("mannequin", "BIPED")))
def put_away(file, kind):
    if file == "mannequin":
        with_root()
    else:
        rig_files.bring_in(file)
    before = operators_help.settled()
    set_up(kind)
    yield "set up", diff(before, operators_help.settled(), NOT_SAVED)
    bpy.ops.poise.bake_to_bones()
    bpy.ops.poise.rig_remove()
    yield "removed", diff(before, operators_help.settled(), NOT_SAVED)
