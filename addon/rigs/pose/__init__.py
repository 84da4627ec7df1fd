# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of bones: read from a rig or from what plays on it, kept, and put on again."""
