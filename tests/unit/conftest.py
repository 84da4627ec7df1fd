# SPDX-License-Identifier: GPL-3.0-or-later
"""Load the repository root as the package `poise`, whatever its folder is called."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Test modules import the cases that stand beside them, and the laboratory from the tools.
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tools"), str(ROOT / "tests")]

import quick


def load_poise(root: Path = ROOT) -> None:
    """Make `import poise` mean the package in `root`."""
    if "poise" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "poise", root / "__init__.py", submodule_search_locations=[str(root)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["poise"] = module
    spec.loader.exec_module(module)


load_poise()


def pytest_collection_modifyitems(config, items):
    quick.mark(items, quick.LONG, False)
    quick.share(config, items)
