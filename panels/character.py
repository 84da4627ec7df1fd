# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel: which character, and adding one."""

import bpy

from ..addon import motions
from ..addon.rigs import characters
from .base import SidebarPanel, wrapped


class POISE_PT_character(SidebarPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_character"
    bl_label = "Character"
    bl_order = 0

    def draw(self, context):
        layout = self.layout
        character = motions.active_character(context)
        if character is None:
            wrapped(
                layout,
                "Add a character, or select one to see its motion",
                context.region.width,
                "INFO",
            )
        else:
            row = layout.row()
            row.label(text=character.name, icon="ARMATURE_DATA")
            row.label(text=_kind_label(character))
            if not character.poise.kind:
                wrapped(
                    layout,
                    "This armature is not a Poise character",
                    context.region.width,
                    "INFO",
                )
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for name, kind in characters.KINDS.items():
            added = grid.operator("poise.character_add", text=f"Add {kind.label}", icon="ADD")
            added.kind = name


def _kind_label(character):
    kind = characters.KINDS.get(character.poise.kind)
    return kind.label if kind else "Armature"


class POISE_PT_character_look(SidebarPanel, bpy.types.Panel):
    bl_label = "Look"
    bl_parent_id = "POISE_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        return character is not None and bool(character.poise.kind)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        character = motions.active_character(context)
        for material in characters.materials_of(character):
            layout.prop(material, "diffuse_color", text=material.name.split(".")[0])
        row = layout.row(align=True)
        row.operator("poise.mesh_swap", icon="MESH_DATA")
        row.operator("poise.mesh_restore", text="Restore")


CLASSES = (POISE_PT_character, POISE_PT_character_look)
