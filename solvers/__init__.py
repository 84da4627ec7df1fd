# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion solvers: numpy and scipy only, never Blender."""
