# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with the built zip installed, once for the process.

`import poise` in a test means the installed package. POISE_ZIP names a zip to
test instead of building one.
"""

import importlib
import sys
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


def pytest_collection_modifyitems(items):
    quick.mark(items, quick.BAKES, True)


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
