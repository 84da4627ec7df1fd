# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies through postures, on the ground and in the air, and single limbs on top of them."""

from .family import Freeform
from .limb import LimbJob, LimbSequences

__all__ = ["Freeform", "LimbJob", "LimbSequences"]
