# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel: which character, and adding one."""

import bpy

from ..addon import motions
from ..addon.rigs import characters, machines, roles, vehicles
from ..addon.rigs.controls import control_rig
from ..addon.rigs.equipment import own_equipment
from ..addon.texts import tr
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
            self._draw_character(context, character)
        selected = context.view_layer.objects.active
        if character is None and selected is not None and selected.type in {"MESH", "EMPTY"}:
            layout.operator("poise.car_setup", icon="AUTO")
        row = layout.row(align=True)
        row.operator("poise.character_add", text="Add Character", icon="ADD")
        if character is not None:
            row.operator("poise.character_duplicate", text="", icon="DUPLICATE")
        if character is not None and characters.figure_meshes(character):
            row.operator("poise.character_remove", text="", icon="TRASH")

    def _draw_character(self, context, character):
        layout = self.layout
        rig = control_rig.rig_of(character)
        row = layout.row()
        row.label(text=(rig or character).name, icon="ARMATURE_DATA", translate=False)
        row.label(text=_kind_label(character))
        if rig is not None or motions.is_left_alone(character):
            row.operator("poise.rig_remove", text="", icon="X")
        if rig is not None:
            again = layout.operator("poise.rig_setup", text="Set Up Again", icon="FILE_REFRESH")
            again.kind = character.poise.kind
            again.engine_bones = control_rig.has_engine_bones(character)
        elif vehicles.is_set_up(character):
            row.operator("poise.car_remove", text="", icon="X")
        elif not (character.poise.kind or character.poise.machine):
            wrapped(
                layout,
                "This rig is not set up: choose what it is to be",
                context.region.width,
                "INFO",
            )
            layout.operator("poise.rig_setup", text="Set Up As", icon="OUTLINER_OB_ARMATURE")


def _kind_label(character):
    kind = (characters.KINDS | machines.MACHINES).get(
        character.poise.kind or character.poise.machine
    )
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
            layout.prop(material, "diffuse_color", text=tr(material.name.split(".")[0]),
                        translate=False)
        row = layout.row(align=True)
        row.operator("poise.mesh_swap", icon="MESH_DATA")
        row.operator("poise.mesh_restore", text="Restore")


class POISE_PT_character_equipment(SidebarPanel, bpy.types.Panel):
    bl_label = "Equipment"
    bl_parent_id = "POISE_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return bool(own_equipment.roles_of(motions.active_character(context)))

    def draw(self, context):
        character = motions.active_character(context)
        attached = own_equipment.attached(character)
        column = self.layout.column(align=True)
        for role in own_equipment.roles_of(character):
            self._draw_role(column.split(factor=0.45, align=True), character, role, attached)

    def _draw_role(self, split, character, role, attached):
        split.label(text=tr(own_equipment.label(role)))
        row = split.row(align=True)
        objects = attached.get(role, ())
        name = objects[0].name if objects else "Poise's Own"
        if len(objects) > 1:
            name = f"{name} + {len(objects) - 1}"
        icon = "OBJECT_DATA" if objects else "NONE"
        row.operator("poise.equipment_attach", text=name, icon=icon).role = role
        hidden = own_equipment.is_hidden(character, role)
        eye = row.operator(
            "poise.equipment_hide", text="", icon="HIDE_ON" if hidden else "HIDE_OFF"
        )
        eye.role, eye.hidden = role, not hidden
        if objects:
            row.operator("poise.equipment_detach", text="", icon="X").role = role


BODIES = {"BIPED": "Two legs", "QUADRUPED": "Four legs", "LEGS": "Many legs"}
RIGS = {
    "RIGIFY_HUMAN": "Rigify human",
    "RIGIFY_QUADRUPED": "Rigify animal",
    "MIXAMO": "Mixamo",
    "UNREAL": "Unreal",
    "VRM": "VRM",
    "BVH": "Motion capture",
    "STRUCTURE": "By its shape",
    "POISE": "Poise",
}


class POISE_UL_rig_roles(bpy.types.UIList):
    """Roles and their bones; unsure ones and ones without a bone are marked."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property,
                  index=0, flt_flag=0):
        row = layout.split(factor=0.42, align=True)
        mark = "NONE"
        if not item.bone:
            mark = "ERROR"
        elif item.unsure:
            mark = "QUESTION"
        row.label(text=item.role)
        row.label(text=item.bone, icon=mark)


class POISE_MT_rig_roles(bpy.types.Menu):
    """Presets of roles, and files to share them."""

    bl_idname = "POISE_MT_rig_roles"
    bl_label = "Role Presets"

    def draw(self, context):
        layout = self.layout
        names = sorted(roles.presets())
        for name in names:
            layout.operator("poise.rig_roles_load", text=name).name = name
        if names:
            layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("poise.rig_roles_save", icon="ADD")
        layout.operator("poise.rig_roles_import", icon="IMPORT")
        layout.operator("poise.rig_roles_export", icon="EXPORT")


class POISE_PT_character_roles(SidebarPanel, bpy.types.Panel):
    bl_label = "Roles"
    bl_parent_id = "POISE_PT_character"

    @classmethod
    def poll(cls, context):
        rig = motions.active_rig(context)
        return rig is not None and not (characters.kind_of(rig) or machines.machine_of(rig))

    def draw(self, context):
        layout = self.layout
        character = motions.active_character(context)
        row = layout.row(align=True)
        row.operator("poise.rig_roles_find", icon="VIEWZOOM")
        row.menu("POISE_MT_rig_roles", text="", icon="PRESET")
        layout.operator("poise.rig_stand_up", icon="ARMATURE_DATA")
        motion = motions.active_motion(character)
        if motion is None or not motion.poise_motion.roles:
            return
        settings = motion.poise_motion
        row = layout.row()
        row.label(text=RIGS.get(settings.rig_kind, settings.rig_kind), icon="OUTLINER_OB_ARMATURE")
        row.label(text=BODIES.get(settings.rig_body, ""))
        unsure = sum(item.unsure for item in settings.roles)
        without = [item.role for item in settings.roles if not item.bone]
        width = context.region.width
        if without:
            wrapped(layout, f"Pick a bone for {', '.join(without)}", width, "ERROR")
        if unsure:
            wrapped(layout, f"{unsure} roles are unsure: check them", width, "QUESTION")
        if settings.rig_fallen:
            said = control_rig.standing_up(motions.active_rig(context), settings.rig_fallen)
            wrapped(layout, said, width, "ERROR")
        if settings.rig_notes:
            wrapped(layout, settings.rig_notes, width, "INFO")
        row = layout.row()
        row.template_list(
            "POISE_UL_rig_roles", "", settings, "roles", settings, "roles_index", rows=6
        )
        column = row.column(align=True)
        column.operator("poise.rig_role_add", text="", icon="ADD")
        column.operator("poise.rig_role_remove", text="", icon="REMOVE")
        # Names of bones are long: the chosen role's has the whole width.
        chosen = settings.roles[min(settings.roles_index, len(settings.roles) - 1)]
        bones = motions.active_rig(context).data
        layout.prop_search(chosen, "bone", bones, "bones", text="")


CLASSES = (
    POISE_UL_rig_roles,
    POISE_MT_rig_roles,
    POISE_PT_character,
    POISE_PT_character_equipment,
    POISE_PT_character_roles,
    POISE_PT_character_look,
)
