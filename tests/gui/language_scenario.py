# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar in German, and the manual: blender -P language_scenario.py -- FOLDER ZIP."""

import sys
import webbrowser
from importlib import import_module
from math import radians
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])
PACKAGE = "bl_ext.user_default.poise"


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 0.5
    opened = []
    webbrowser.open = lambda address, *_more: opened.append(address) or True
    view = bpy.context.preferences.view
    view.language = "de_DE"
    view.use_translate_interface = view.use_translate_tooltips = True
    iface = bpy.app.translations.pgettext_iface
    report.check("Blender knows labels of Poise in German",
                 iface("Max Lean") == "Max. Neigung" and iface("Bake to Rig", "Poise")
                 == "Auf Rig backen", (bpy.app.translations.locale, iface("Max Lean")))
    bpy.data.batch_remove(list(bpy.data.objects))
    open_only("POISE_PT_turns", "POISE_PT_problems", "POISE_PT_bake")
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.character_add(kind="SKIER")
        rig = bpy.context.object
        turns = rig.poise.turns
        turns.speed, turns.sharpness, turns.frequency = 8.0, radians(48.0), 0.6
        bpy.ops.poise.bake()
        refused = ""
        turns.speed = 0.0
        try:
            bpy.ops.poise.bake()
        except RuntimeError as error:
            refused = str(error)
        turns.speed = 8.0
    prop = turns.bl_rna.properties["speed"]
    said = iface(prop.name, prop.translation_context)
    report.check("Poise's words come before Blender's", said == "Tempo", said)
    report.check("a refusal is German", "Tempo am Anfang ist 0" in refused, refused)
    texts = import_module(f"{PACKAGE}.addon.texts")
    problems = rig.poise.settings.problems
    said = [texts.tr(problem.message) for problem in problems]
    report.check("problems are German", said and "Neigt sich" in said[0], said)
    yield 2.0
    yield from window.picture("german", window.centre())

    found = False
    for part in (0.78, 0.74, 0.82, 0.86):
        # One page of the sidebar at a time: the button is as small as an icon.
        found = yield from window.click_button("poise.manual_open", part=part)
        if found:
            break
    yield from until(lambda: opened, 5.0)
    report.check("the button in a panel's header opens its page of the manual",
                 found and opened and opened[0].endswith(".html")
                 and "/manual/" in opened[0] and "index" not in opened[0], opened)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
