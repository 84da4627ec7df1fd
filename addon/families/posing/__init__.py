# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses reached on their frames, and what swings after what carries it."""

from .family import PoseTiming

__all__ = ["PoseTiming"]
