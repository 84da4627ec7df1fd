# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification: a simple body's motion drives the whole figure."""
