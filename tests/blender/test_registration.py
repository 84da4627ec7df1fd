# SPDX-License-Identifier: GPL-3.0-or-later
"""Enabling and disabling leaves Blender as it was, also when it fails half-way."""

import bpy
import pytest
from poise.addon import registration
from poise.addon.show import overlay
from poise.addon.ui import tabs


def counts():
    """What Blender has of Poise: classes, handlers, properties, panels' tabs."""
    handlers = {
        name: len(getattr(bpy.app.handlers, name))
        for name in ("load_post", "depsgraph_update_post", "undo_post", "redo_post")
    }
    classes = sorted(name for name in dir(bpy.types) if name.startswith("POISE_"))
    return handlers, classes, dir(bpy.ops.poise), hasattr(bpy.types.Object, "poise")


@pytest.fixture
def registered(scene):
    yield
    registration.register()


def test_five_times_off_and_on(registered):
    before = counts()
    for _ in range(5):
        registration.unregister()
        assert not any(name.startswith("POISE_") for name in dir(bpy.types))
        assert not hasattr(bpy.types.Object, "poise")
        registration.register()
    assert counts() == before


def test_failure_half_way_takes_everything_down(registered, monkeypatch):
    registration.unregister()
    empty = counts()

    def fail():
        raise RuntimeError("no window")

    monkeypatch.setattr(overlay, "register", fail)
    with pytest.raises(RuntimeError, match="no window"):
        registration.register()
    assert counts() == empty
    monkeypatch.undo()
    registration.register()
    assert bpy.ops.poise.character_add(kind="SKIER") == {"FINISHED"}


def test_second_copy_is_refused_and_the_first_works_on(registered, monkeypatch):
    monkeypatch.setattr(registration, "_done", [])
    with pytest.raises(RuntimeError, match="Another copy of Poise"):
        registration.register()
    monkeypatch.undo()
    assert bpy.ops.poise.character_add(kind="SKIER") == {"FINISHED"}


def test_panels_move_to_another_tab(scene):
    tabs.move_panels("Motion")
    try:
        assert bpy.types.POISE_PT_turns.bl_category == "Motion"
    finally:
        tabs.move_panels("")
    assert bpy.types.POISE_PT_turns.bl_category == "Poise"
