# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion: gaits along a way, over terrain."""

from .family import Gaits

__all__ = ["Gaits"]
