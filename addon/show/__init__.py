# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows: the preview and what is drawn of it."""
