# SPDX-License-Identifier: GPL-3.0-or-later
"""Role tracks onto rigs as keys, and off again without a trace."""

from .checks import check_before_bake
from .data import Baked, BakeOptions, BakeRecord, BakeResult
from .keyed import Keyed
from .verify import check_bake
from .write import bake_tracks, clear_bake

__all__ = (
    "BakeOptions",
    "BakeRecord",
    "BakeResult",
    "Baked",
    "Keyed",
    "bake_tracks",
    "check_bake",
    "check_before_bake",
    "clear_bake",
)
