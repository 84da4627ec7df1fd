# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening the manual that the package brings along."""

import bpy
from bpy.props import StringProperty

from ..addon.base_operator import SettingsOperator
from ..addon.errors import UserError
from ..addon.ui import manual


class POISE_OT_manual_open(SettingsOperator, bpy.types.Operator):
    """Open Poise's manual in the web browser, at the page about this panel"""

    bl_idname = "poise.manual_open"
    bl_label = "Open Manual"
    bl_options = {"REGISTER"}

    page: StringProperty(
        name="Page", description="File name of the page, with # and a section",
        default=manual.FIRST, options={"HIDDEN", "SKIP_SAVE"},
    )

    def run(self, context):
        name, hash_, section = self.page.partition("#")
        if not manual.pages():
            raise UserError("This installation has no manual: install one of Poise's packages")
        if name not in manual.pages():
            raise UserError(f"The manual has no page {name}: open it at {manual.FIRST}")
        address = (manual.FOLDER / name).as_uri() + hash_ + section
        # In the background there is nobody to read it.
        if not bpy.app.background:
            bpy.ops.wm.url_open(url=address)
        return f"The manual is {address}"


CLASSES = (POISE_OT_manual_open,)
