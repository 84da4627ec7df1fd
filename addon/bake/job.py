# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides the keys of one bake."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from . import sparse
from .keyed import Keyed


@dataclass(frozen=True, kw_only=True)
class Job(Keyed):
    """Everything that decides the keys of one bake, nothing left to be found.

    Attributes:
        context: Blender's context.
        unit_scale: metres per Blender unit.
    """

    axes: np.ndarray = field()
    context: bpy.types.Context
    unit_scale: float

    @property
    def frames(self) -> int:
        """Number of whole frames."""
        return self.tracks.clock.count

    @property
    def end_frame(self) -> int:
        """The last of them."""
        return self.options.start_frame + self.frames - 1

    @property
    def dense(self) -> bool:
        """Whether every frame has a key."""
        return self.options.key_mode == "DENSE"

    @property
    def spacing(self) -> float:
        """Least time between two keys, in frames."""
        return sparse.key_spacing(max(abs(self.options.start_frame), abs(self.end_frame)))
