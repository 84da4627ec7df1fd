# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender as a module, with the built zip installed the way a user installs it.

The zip goes into a Blender profile made for this process and removed at its
end. `import poise` then means the installed package, and the very modules
that Blender registered: not a second copy of them.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.abc
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "bl_ext.user_default.poise"


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets `poise.x.y` be the module `bl_ext.user_default.poise.x.y` itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "poise" and not name.startswith("poise."):
            return None
        wanted = PACKAGE + name.removeprefix("poise")
        try:
            real = importlib.import_module(wanted)
        except ModuleNotFoundError as error:
            if error.name == wanted:
                return None
            raise
        return importlib.util.spec_from_loader(
            name, self, is_package=hasattr(real, "__path__"), origin=real.__file__
        )

    def create_module(self, spec):
        real = sys.modules[PACKAGE + spec.name.removeprefix("poise")]
        spec.loader_state = real.__spec__
        return real

    def exec_module(self, module):
        # The module ran when Blender's name for it was imported. The import
        # system has put the alias's spec on it since: give it its own back.
        module.__spec__ = module.__spec__.loader_state


def built_zip() -> Path:
    """The zip to install: the one that POISE_ZIP names, or one built now."""
    if "POISE_ZIP" in os.environ:
        return Path(os.environ["POISE_ZIP"]).resolve()
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py"), "test"], check=True, stdout=sys.stderr
    )
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return next((ROOT / "build" / f"test-{version}").glob("*.zip"))


def start() -> Path:
    """Start Blender in a new profile and install the zip.

    Returns:
        The profile's folder.

    Raises:
        RuntimeError: Blender did not enable the add-on.
    """
    if "bpy" in sys.modules:
        raise RuntimeError("bpy is imported already: the profile has to be chosen before")
    profile = Path(tempfile.mkdtemp(prefix="poise-profile-"))
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    # Blender reads this once, when it starts: at its import.
    os.environ["BLENDER_USER_RESOURCES"] = str(profile)
    import bpy

    bpy.ops.extensions.package_install_files(
        filepath=str(built_zip()), repo="user_default", enable_on_install=True
    )
    # Blender prints an add-on's traceback when it cannot be enabled, and goes on.
    if PACKAGE not in bpy.context.preferences.addons:
        raise RuntimeError("Blender did not enable the installed add-on: see its output above")
    sys.meta_path.insert(0, _Alias())
    return profile


def new_file():
    """Start a new, empty file with factory settings and the add-on enabled.

    Returns:
        Its scene.
    """
    import bpy

    # Loading the factory's preferences too would disable the add-on and take a second.
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    if PACKAGE not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=PACKAGE)
    return bpy.context.scene
