# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed zip: enabled, self-contained, and gone without a trace when disabled."""

import importlib
import sys
import tomllib
import webbrowser
from pathlib import Path

import bpy
import environments
from operators_draw import drawn
from operators_help import load, refused

PACKAGE = "bl_ext.user_default.poise"


def test_the_zip_is_installed_and_enabled(scene, profile, poise):
    assert PACKAGE in bpy.context.preferences.addons
    assert Path(poise.__file__).is_relative_to(profile)


def test_poise_is_the_registered_package_and_not_a_copy():
    from poise.addon import registration

    assert registration is sys.modules[f"{PACKAGE}.addon.registration"]
    assert registration.__spec__.name == f"{PACKAGE}.addon.registration"
    assert registration.__package__ == f"{PACKAGE}.addon"


def test_scipy_comes_from_the_bundled_wheel(profile):
    import scipy

    assert Path(scipy.__file__).is_relative_to(profile), "this Python has a scipy of its own"


def test_it_bundles_one_wheel_and_is_for_this_blender(poise):
    folder = Path(poise.__file__).parent
    found = tomllib.loads((folder / "blender_manifest.toml").read_text(encoding="utf-8"))
    (wheel,) = (folder / "wheels").iterdir()
    assert found["wheels"] == [f"./wheels/{wheel.name}"]
    assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-" in wheel.name
    least, below = (
        tuple(map(int, found[f"blender_version_{end}"].split("."))) for end in ("min", "max")
    )
    assert least <= bpy.app.version < below


def test_it_has_all_files_of_the_package_and_the_manual(poise):
    folder = Path(poise.__file__).parent
    for name in ("addon", "operators", "panels", "presets", "solvers"):
        of_source, of_zip = (
            {path.relative_to(root) for path in (root / name).rglob("*")
             if path.is_file() and path.suffix not in (".pyc", ".blend1")}
            for root in (environments.ROOT, folder)
        )
        assert of_zip == of_source
    manual = [path for path in (folder / "manual").rglob("*") if path.is_file()]
    docs = environments.ROOT / "docs"
    assert len(manual) == len([*docs.glob("*.md"), *docs.glob("images/*.png")])  # a style for house
    assert sum(path.stat().st_size for path in manual) < 10e6


def test_the_button_of_each_panel_opens_its_page(scene, monkeypatch):
    from poise.addon import registration
    from poise.addon.ui import manual
    from poise.panels.base import SidebarPanel

    pages = manual.titles()
    assert pages["Turns"] == "turns.html" and pages["Your own rig"] == "rigs.html"
    for label, page in pages.items():
        assert bpy.ops.poise.manual_open(page=page) == {"FINISHED"}, label
    assert bpy.ops.poise.manual_open(page="turns.html#limits") == {"FINISHED"}
    for cls in registration.CLASSES:
        if issubclass(cls, SidebarPanel) and not getattr(cls, "bl_parent_id", ""):
            assert manual.page_of(cls) != manual.FIRST, cls
    load()
    drawn()
    refused("manual_open", "has no page ../x.html: open it at index.html", page="../x.html")
    # A package that was not built has none.
    monkeypatch.setattr(manual, "pages", dict)
    refused("manual_open", "no manual: install one of Poise's packages")


def test_online_manual_knows_every_operator_and_setting(scene, monkeypatch):
    from poise.addon import registration
    from poise.addon.ui import manual

    prefix, table = manual.online_manual()
    for _name, place in table:
        name, _, section = place.partition("#")
        assert not section or f'id="{section}"' in manual.pages()[name], place
    of_no_page = (
        bpy.types.Menu | bpy.types.UIList | bpy.types.Gizmo | bpy.types.GizmoGroup
    )
    for cls in registration.CLASSES:
        if not issubclass(cls, of_no_page):
            assert manual.page_of(cls) != manual.FIRST or "manual" in cls.__module__, cls
    places = dict(table)
    assert places["bpy.types.poiseturns.max_curvature_rate"] == "turns.html#limits"
    assert places["bpy.types.poisemotion.base"] == "motion.html#range"
    assert places["bpy.ops.poise.jump_find"].startswith("lamp.html")
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address, *_more: opened.append(address))
    for asked, page in (
        ("PoiseTurns.sharpness", "turns.html"), ("poise.bake", "bake.html"),
        ("POISE_OT_gait_add.preset", "gait.html"),
    ):
        assert bpy.ops.wm.doc_view_manual(doc_id=asked) == {"FINISHED"}
        assert opened.pop() == prefix + page


def test_the_scene_fixture_gives_an_empty_file(scene):
    assert len(bpy.data.objects) == 0
    assert not bpy.data.actions
    assert scene == bpy.context.scene
    assert PACKAGE in bpy.context.preferences.addons


def _registered() -> set[str]:
    # Every class that Blender knows, and the properties added to its own types.
    kinds = (bpy.types.Operator, bpy.types.Panel, bpy.types.PropertyGroup, bpy.types.Menu,
             bpy.types.UIList, bpy.types.AddonPreferences, bpy.types.Header)
    classes = {cls.__name__ for kind in kinds for cls in kind.__subclasses__()
               if getattr(cls, "is_registered", False)}
    ids = (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager, bpy.types.Armature,
           bpy.types.Action, bpy.types.PoseBone)
    properties = {
        f"{kind.__name__}.{name}" for kind in ids for name in kind.bl_rna.properties.keys()
    }
    attributes = {f"{kind.__name__}:{name}" for kind in ids for name in vars(kind)}
    handlers = {
        f"{name}:{function.__module__}.{function.__name__}"
        for name in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, name), list)
        for function in getattr(bpy.app.handlers, name)
    }
    return classes | properties | attributes | handlers


def test_disabling_takes_everything_down_and_enabling_brings_it_back(scene):
    enabled = _registered()
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    disabled = _registered()
    left = {name for name in disabled if "poise" in name.lower()}
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    assert left == set()
    assert _registered() == enabled
    assert importlib.import_module(PACKAGE) is sys.modules[PACKAGE]
