# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender as a module, with the built zip installed the way a user installs it.

The zip goes into a Blender profile made for this process. `import poise` in a
test means the installed package, and the very modules that Blender
registered: not a second copy of them. POISE_ZIP names a zip to test instead
of building one.
"""

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

ROOT = Path(__file__).resolve().parents[2]
PROFILE = Path(tempfile.mkdtemp(prefix="poise-profile-"))
PACKAGE = "bl_ext.user_default.poise"

# Blender reads this once, when it starts: at its import.
os.environ["BLENDER_USER_RESOURCES"] = str(PROFILE)
atexit.register(shutil.rmtree, PROFILE, ignore_errors=True)

import bpy  # noqa: E402
import pytest  # noqa: E402


class _InstalledPackage(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets `poise.x.y` be the module `bl_ext.user_default.poise.x.y` itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "poise" and not name.startswith("poise."):
            return None
        try:
            real = importlib.import_module(PACKAGE + name.removeprefix("poise"))
        except ModuleNotFoundError as error:
            if error.name == PACKAGE + name.removeprefix("poise"):
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


def _zip() -> Path:
    if "POISE_ZIP" in os.environ:
        return Path(os.environ["POISE_ZIP"]).resolve()
    subprocess.run([sys.executable, str(ROOT / "tools" / "build.py"), "test"], check=True)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return next((ROOT / "build" / f"test-{version}").glob("*.zip"))


def _install() -> None:
    bpy.ops.extensions.package_install_files(
        filepath=str(_zip()), repo="user_default", enable_on_install=True
    )
    # Blender prints an add-on's traceback when it cannot be enabled, and goes on.
    if PACKAGE not in bpy.context.preferences.addons:
        raise RuntimeError("Blender did not enable the installed add-on: see its output above")
    sys.meta_path.insert(0, _InstalledPackage())


# Test modules import `poise` when they are collected, before any fixture runs.
_install()


@pytest.fixture(scope="session")
def profile() -> Path:
    """Blender's user folder in this process."""
    return PROFILE


@pytest.fixture
def poise():
    """The installed package."""
    return importlib.import_module(PACKAGE)


@pytest.fixture
def scene():
    """The scene of a new, empty file with factory settings; Poise stays enabled.

    The file is new before each test, so that none sees what another left.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return bpy.context.scene
