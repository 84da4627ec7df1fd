# SPDX-License-Identifier: GPL-3.0-or-later
"""How Poise presents itself: menus, tabs, presets and preferences."""
