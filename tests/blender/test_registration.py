# SPDX-License-Identifier: GPL-3.0-or-later
"""Enabling and disabling leaves Blender as it was, also when it fails half-way."""

from pathlib import Path

import bpy
import poise
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


def saved_settings():
    """(group and type, name) of each property that files keep, with the numbers of choices."""
    found = set()
    for group in bpy.types.PropertyGroup.__subclasses__():
        if not group.__module__.startswith(poise.__name__) or not group.is_registered:
            continue
        for prop in group.bl_rna.properties:
            kind, choices = f"{group.__name__} {prop.type.lower()}", ("",)
            if prop.type in ("POINTER", "COLLECTION"):
                kind += f" of {prop.fixed_type.identifier}"
            elif prop.type == "ENUM":
                choices = [f".{item.identifier}={item.value}" for item in prop.enum_items]
            elif getattr(prop, "is_array", False):
                kind += f" x {prop.array_length}"
            if prop.identifier not in ("rna_type", "name"):
                found |= {(kind, prop.identifier + choice) for choice in choices}
    return found


def test_files_that_were_saved_keep_their_settings():
    """Another name, type or number of a choice would lose what a file was saved with."""
    text = Path(__file__).with_name("saved_settings.txt").read_text()
    lines = (line.partition(": ") for line in text.splitlines())
    known = {(kind, name) for kind, _, names in lines for name in names.split()}
    assert len(known) > 400
    assert known - saved_settings() == set()
