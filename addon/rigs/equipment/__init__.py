# SPDX-License-Identifier: GPL-3.0-or-later
"""Equipment of the animator's own in place of Poise's."""
