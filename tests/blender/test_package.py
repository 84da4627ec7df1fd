# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed zip: enabled, self-contained, and gone without a trace when disabled."""

import importlib
import sys
from pathlib import Path

import bpy

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
