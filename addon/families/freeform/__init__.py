# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies through postures, on the ground and in the air."""

from .family import Freeform

__all__ = ["Freeform"]
