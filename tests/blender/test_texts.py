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
from poise.addon import texts
from poise.addon.show import preview

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
        assert table["Operator", "Bake to Rig"] == "Auf Rig backen"
        assert not any(texts.BLANK in words for _context, words in table)


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
