# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with the built zip installed, once for the process.

`import poise` in a test means the installed package. POISE_ZIP names a zip to
test instead of building one.
"""

import importlib
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# Test modules import their helpers beside them, and this file the tools and what is quick.
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools"), str(HERE.parent)]

import installed
import quick

# Helpers assert, too, and should say what they saw.
pytest.register_assert_rewrite("operators_help", "own_rigs_help", "rigify_help")

# Test modules import `bpy` and `poise` when they are collected, before any fixture runs.
PROFILE = installed.start()

import operators_help


def pytest_collection_modifyitems(config, items):
    quick.mark(items, quick.BAKES, True)
    quick.share(config, items)


@pytest.fixture(scope="session")
def profile() -> Path:
    """Blender's user folder in this process."""
    return PROFILE


@pytest.fixture
def poise():
    """The installed package."""
    return importlib.import_module(installed.PACKAGE)


@pytest.fixture
def scene():
    """The scene of a new, empty file with factory settings; Poise stays enabled.

    The file is new before each test, so that none sees what another left.
    """
    return installed.new_file()


# Modules that look at the bodies and equipment of Poise's own characters.
LOOKS = {
    "test_characters.py", "test_characters_mesh.py", "test_creatures.py", "test_own_equipment.py",
    "test_scenes.py", "test_telemark.py",
}
SHARE = 25  # one face of so many


@cache
def thinned(key: int):
    """A figure with few faces, of each material some.

    Args:
        key: of `surfaces`.
    """
    whole = surfaces[key]
    kept = sorted(
        face
        for material in set(whole.materials)
        for face in [i for i, one in enumerate(whole.materials) if one == material][::SHARE]
    )
    used = sorted({point for face in kept for point in whole.faces[face]})
    place = {point: number for number, point in enumerate(used)}
    return replace(
        whole,
        points=whole.points[used],
        weights=whole.weights[used],
        faces=[tuple(place[point] for point in whole.faces[face]) for face in kept],
        materials=[whole.materials[face] for face in kept],
        smooth=[whole.smooth[face] for face in kept],
    )


# By id: kept here, so that no other gets it.
surfaces: dict = {}

# Files with a character that is whole, for those modules.
whole_files: dict[str, str] = {}


@pytest.fixture(autouse=True)
def light_figures(request, monkeypatch):
    """Few faces where looks do not count: Blender builds and moves them in no time."""
    if request.node.path.name in LOOKS:
        monkeypatch.setattr(operators_help, "_FILES", whole_files)
        return
    meshes = importlib.import_module("poise.addon.rigs.builders.figure_mesh")
    made = meshes.figure_surfaces

    def light(*given):
        found = made(*given)
        surfaces.update({id(surface): surface for surface in found.values()})
        return {part: thinned(id(surface)) for part, surface in found.items()}

    monkeypatch.setattr(meshes, "figure_surfaces", light)
