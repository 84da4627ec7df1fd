# SPDX-License-Identifier: GPL-3.0-or-later
"""What Poise adds to a scene: trails, slopes, gates, footprints, cameras, playblasts."""
