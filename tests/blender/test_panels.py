# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sidebar shows in each state of a scene; drawn without a window."""

from __future__ import annotations

import bpy
import pytest
from operators_draw import drawn
from operators_help import activate, load
from poise.addon import motions
from poise.addon.show import preview


def texts(found):
    """Everything that was drawn, as one text."""
    return " | ".join(text for said in found.values() for text in said)


def test_an_empty_scene_says_what_to_do(scene):
    found = drawn()
    assert "Add a character, or select one" in texts(found).replace(" | ", " ")
    assert "Add Character" in texts(found)
    assert not {"POISE_PT_turns", "POISE_PT_bake", "POISE_PT_render"} & found.keys()


def test_another_armature_is_named_as_none(scene):
    foreign = bpy.data.objects.new("Foreign", bpy.data.armatures.new("Foreign"))
    scene.collection.objects.link(foreign)
    activate(foreign)
    found = texts(drawn()).replace(" | ", " ")
    assert "Foreign" in found and "This rig is not set up" in found
    assert "Set Up As" in found
    # A motion that points to it by a script.
    motion = bpy.data.objects.new("Motion", None)
    scene.collection.objects.link(motion)
    motion.poise_motion.character = foreign
    drawn()
    # A motion that moves nothing.
    motion.poise_motion.character = None
    activate(motion)
    drawn()


@pytest.mark.parametrize("kind", ["SKIER", "TELEMARK", "SNOWBOARDER", "SKATEBOARDER", "CYCLIST"])
def test_a_character_shows_its_numbers(scene, kind):
    _rig, motion = load(kind, frames=121)
    preview.refresh(bpy.context, motion)
    found = drawn()
    assert {"POISE_PT_turns", "POISE_PT_bake", "POISE_PT_style"} <= found.keys()
    said = texts(found)
    # Heading change of a half turn, smallest radius, peak force in g.
    for name in ("Half Turn", "Minimum Radius", "Peak Force"):
        assert name in said
    assert "°" in said and " g" in said


def test_all_choices_are_drawn(scene):
    """Panels that change with a setting, on both of its sides."""
    _rig, motion = load()
    settings = motion.poise_motion
    for mode in ("OWN", "SCENE", "PREVIEW"):
        settings.range_mode = mode
        settings.key_mode = "SPARSE" if mode == "OWN" else "DENSE"
        settings.turns.speed_mode = "SLOPE" if mode == "SCENE" else "KEYED"
        settings.skier.edge_law = "SIDECUT" if mode == "SCENE" else "LINEAR"
        drawn()


def test_problems_errors_and_changes_are_shown(scene):
    rig, motion = load()
    turns = motion.poise_motion.turns
    turns.max_curvature = 0.02
    turns.sharpness = 0.7
    bpy.ops.poise.bake()
    assert len(motion.poise_motion.problems) > 0
    first = motion.poise_motion.problems[0]
    motion.poise_motion.problem_index = 99
    preview.refresh(bpy.context, motion)
    assert first.message.split()[0] in texts(drawn())
    turns.max_curvature = 0.25
    preview.refresh(bpy.context, motion)
    assert "Changed since the bake" in texts(drawn()).replace(" | ", " ")
    turns.speed = 0.0
    preview.refresh(bpy.context, motion)
    assert "Speed at the start" in texts(drawn()).replace(" | ", " ")
    for obj in (rig.children[0], motion):
        activate(obj)
        assert "POISE_PT_turns" in drawn()


def test_several_motions_are_listed(scene):
    _rig, _motion = load()
    bpy.ops.poise.motion_add(name="Second")
    bpy.ops.poise.motion_add(name="Third")
    said = texts(drawn())
    assert "Second" in said and "Third" in said


def test_what_leads_a_motion_shows_its_panels(scene):
    """Path, terrain and gates; what is only passed by does not."""
    assert bpy.ops.poise.character_add(kind="SKIER") == {"FINISHED"}
    rig = bpy.context.object
    found = {}
    for name, data in (
        ("curve", bpy.data.curves.new("Curve", "CURVE")),
        ("terrain", bpy.data.meshes.new("Terrain")), ("tree", bpy.data.meshes.new("Tree")),
        ("gate", None),
    ):
        found[name] = bpy.data.objects.new(name, data)
    collections = {name: bpy.data.collections.new(name) for name in ("gates", "obstacles")}
    for name, collection in collections.items():
        scene.collection.children.link(collection)
        collection.objects.link(found["gate" if name == "gates" else "tree"])
    for name in ("curve", "terrain"):
        scene.collection.objects.link(found[name])
    for obj in found.values():
        activate(obj)
        assert motions.active_character(bpy.context) is None
    rig.poise.motion = "PATH"
    path = rig.poise.path
    path.curve, path.terrain = found["curve"], found["terrain"]
    path.gates, path.obstacles = collections["gates"], collections["obstacles"]
    for name, obj in found.items():
        activate(obj)
        led = name != "tree"
        assert (motions.active_character(bpy.context) == rig) == led
        assert ("POISE_PT_path" in drawn()) == led
