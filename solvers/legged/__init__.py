# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion: Girard (1986)."""
