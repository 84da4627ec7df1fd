# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels that the manual shows, each opened alone: blender -P manual_scenario.py -- FOLDER ZIP."""

import sys
from math import radians
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def fresh_skier(window, name: str):
    """A new file whose sidebar has one panel open, with a skier in it."""
    open_only(name)
    # Panels keep whether they are open with the window's layout, which a new file brings along.
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.character_add(kind="SKIER")
    yield 1.0


def skier():
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")


def header(window, row: float, part: float = 0.2) -> tuple[float, float]:
    """Place in the sidebar: of the panel's header in a row while the panels over it are closed."""
    region, scale = window.sidebar, bpy.context.preferences.system.ui_scale
    return region.x + part * region.width, region.y + region.height - (13 + 28 * row) * scale


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0

    # Character, Motion, Bake, Turns, Body and, in it, Legs and Skis: the lower one first, which
    # moves down when the other opens.
    yield from fresh_skier(window, "POISE_PT_style")
    for row in (5.85, 5.1):
        yield from window.click(*header(window, row))
        yield 0.3
    names = []
    for row in range(5, 27):
        yield from window.move(*header(window, row, 0.6))
        names.append(window.under_pointer())
    shown = [name for name in names if ".skier." in name or "skier." in name]
    report.check("the Body panel shows settings of the skier", len(shown) > 4, shown)
    yield from window.picture("body-panel", window.centre())

    yield from fresh_skier(window, "POISE_PT_problems")
    turns = skier().poise.turns
    turns.speed, turns.sharpness, turns.frequency = 8.0, radians(48.0), 0.6
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.bake()
    yield 3.0
    problems = skier().poise.settings.problems
    report.check("the bake lists problems", len(problems) > 0, [p.message for p in problems])
    yield from window.picture("problem-list", window.centre())

    yield from fresh_skier(window, "POISE_PT_turns")
    yield 2.0
    yield from window.picture("turns-panel", window.centre())
    before = tuple(getattr(skier().poise.turns, name) for name in ("speed", "frequency"))
    yield from window.click(*header(window, 3, 0.76))
    yield 0.5
    yield from window.picture("preset-menu")
    yield from window.click(*header(window, 5.2, 0.6))
    yield 1.0
    after = tuple(getattr(skier().poise.turns, name) for name in ("speed", "frequency"))
    report.check("a click in the preset menu applies a preset", after != before, (before, after))
    yield from window.picture("preset-applied", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
