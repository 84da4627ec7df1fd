# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines, marks and diagrams as arrays: numpy only, drawn by whoever shows them."""
