# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator can put right, as opposed to what is a defect of Poise."""

from __future__ import annotations


class UserError(Exception):
    """Something the animator has to put right first.

    Its text is one sentence that names the cause and the remedy. It is raised
    before anything is written, or after everything has been put back.
    """
