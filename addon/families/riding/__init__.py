# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns, and motions along a path: what balances like an inverted pendulum."""

from .family import Riding

__all__ = ["Riding"]
