# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts in another language: what Blender draws has its table, what Poise says goes through it.

Blender as a Python module has no translations: here the doors are asked for German, and
labels are looked up in the table that Blender gets.
"""

import bpy
import pytest
import texts as tool
from operators_draw import drawn
from operators_help import load, refused
from poise.addon import registration, texts
from poise.addon.show import preview
from poise.addon.ui import menus

TABLES = sorted(tool.LOCALE.glob("*.json"))


@pytest.fixture
def german(monkeypatch):
    """Poise speaks German."""
    monkeypatch.setattr(texts, "language", lambda: "de_DE")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_label_tooltip_and_choice_is_translated(scene, path):
    found = tool.of_classes()
    assert len(found) > 1000 and "Max Lean" in found
    lacks = tool.missing(found, tool.read(path))
    assert lacks == {}, "python tools/texts.py says which, and where they stand"


def test_blender_gets_what_it_draws_itself(scene):
    for name in ("de_DE", "de"):
        table = texts.for_blender()[name]
        assert table["*", "Max Lean"] == "Max. Neigung"
        assert table["Poise", "Bake to Rig"] == "Auf Rig backen"
        assert not any(texts.BLANK in words for _context, words in table)


def test_poise_has_words_of_its_own_for_what_blender_calls_otherwise(scene):
    """"Speed" of a skier is no "Geschwindigkeit", "Lead" of an arm no "Blei"."""
    seen = 0
    for cls in (*registration.CLASSES, *menus.CLASSES):
        rna = cls.bl_rna
        if issubclass(cls, bpy.types.Operator):
            rna = getattr(bpy.ops.poise, cls.bl_idname.partition(".")[2]).get_rna_type()
        if issubclass(cls, bpy.types.Operator | bpy.types.Panel | bpy.types.Menu):
            assert cls.bl_translation_context == "Poise", cls
        own = {name for part in cls.__mro__ for name in getattr(part, "__annotations__", {})}
        for prop in rna.properties:
            if prop.identifier in own:
                assert prop.translation_context == "Poise", (cls, prop)
                seen += 1
    assert seen > 500


def test_english_is_said_where_blender_has_no_translations(scene):
    assert bpy.app.translations.locale in (None, "")
    assert texts.tr("Max Lean") == "Max Lean"


def test_reports_and_refusals_are_german(scene, german):
    _rig, motion = load()
    motion.poise_motion.frame_end = -5
    refused("bake", "Ende nach Start setzen")
    motion.poise_motion.frame_end = 37
    motion.poise_motion.turns.speed = 0.0
    refused("bake", "Tempo am Anfang ist 0.0: Es muss mindestens .* m/s .* sein")


def test_panels_are_german_but_for_names(scene, german):
    rig, motion = load()
    turns = motion.poise_motion.turns
    turns.max_curvature, turns.sharpness = 0.02, 0.7
    bpy.ops.poise.bake()
    turns.speed = 7.0
    preview.refresh(bpy.context, motion)
    said = " ".join(text for texts_ in drawn().values() for text in texts_)
    assert "Seit dem Backen geändert" in said and "Changed since" not in said
    assert "Neigt sich" in said and "statt" in said
    assert motion.name in said and rig.name in said
