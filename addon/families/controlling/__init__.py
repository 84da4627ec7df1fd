# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers: mechanical figures that find their way to where they are to end."""

from .family import Controllers

__all__ = ["Controllers"]
