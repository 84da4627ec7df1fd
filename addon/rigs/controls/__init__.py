# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's controls on a rig of someone else's, and that rig's own controls."""
