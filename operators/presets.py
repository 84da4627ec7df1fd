# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying and saving presets of turns and body style."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import StringProperty

from ..addon import motions
from ..addon.base_operator import SettingsOperator
from ..addon.errors import UserError
from ..addon.mapping.registry import MAPPINGS, STYLE_GROUPS
from ..addon.scene.timing import scene_numbers
from ..addon.texts import tr
from ..addon.ui import preset_files, presets


class POISE_OT_preset_apply(SettingsOperator, bpy.types.Operator):
    """Set the turns and the body's style, or the list of gaits, from a preset"""

    bl_idname = "poise.preset_apply"
    bl_label = "Apply Preset"

    name: StringProperty(name="Name", description="Name of the preset, such as Carving")
    filepath: StringProperty(
        name="File", description="Preset file; empty to find it by name", options={"SKIP_SAVE"}
    )
    menu_idname: StringProperty(
        name="Menu",
        description="Menu that the preset was chosen from",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if character is None or motions.active_motion(character) is None:
            cls.poll_message_set("No character with a motion is active")
            return False
        return True

    def run(self, context):
        character, motion = motions.require_motion(context)
        path = self.filepath or presets.find(character, self.name)
        if not path:
            raise UserError(f"There is no preset called {self.name!r} for {character.name}")
        if not path.lower().endswith(".py"):
            raise UserError(f"{path} is no preset: choose a .py file that Blender's presets made")
        gait = motion.poise_motion.gait
        before, gaits, speeds = _values(motion), gait.stored(), gait.speed_pairs(1.0)
        try:
            changes = preset_files.read(path, _groups())
            preset_files.apply(changes, motion.poise_motion)
        except (ValueError, OSError) as error:  # a file that anyone may have written
            gait.bring_back(gaits)
            gait.speed_points.clear()
            for distance, speed in speeds:
                gait.add_speed(distance, speed)
            for name in ("sequence", "speed_points"):
                if not len(getattr(gait, name)):
                    gait.property_unset(name)
            _put_back(motion, before)
            raise UserError(f"The preset {path} could not be applied: {error}") from error
        if path.startswith(presets.ROOT) and not presets.is_gaits(path):
            _from_si(context, motion.poise_motion.turns, path)
        label = bpy.path.display_name(bpy.path.basename(path), title_case=False)
        if self.menu_idname:
            getattr(bpy.types, self.menu_idname).bl_label = label
        return f"{motion.name}: {label}"


def _groups() -> tuple[str, ...]:
    """Names of the groups of settings that a preset may set."""
    return ("turns", "gait", *STYLE_GROUPS)


def _values(motion):
    """(group, setting) -> value of everything that a preset may set; None where it is unset."""
    found = {}
    for name in _groups():
        group = getattr(motion.poise_motion, name)
        for prop in group.bl_rna.properties:
            if not prop.is_readonly and prop.identifier not in {"name", "rna_type"}:
                stored = group.is_property_set(prop.identifier)
                value = getattr(group, prop.identifier) if stored else None
                found[name, prop.identifier] = value
    return found


def _put_back(motion, values):
    for (name, setting), value in values.items():
        group = getattr(motion.poise_motion, name)
        if value is None:
            group.property_unset(setting)
        else:
            setattr(group, setting, value)


def _from_si(context, turns, path):
    """Poise's own presets are in SI units; the settings are Blender units."""
    scale = scene_numbers(context.scene).unit_scale
    text = Path(path).read_text(encoding="utf-8")
    for row in turns.ROWS:
        if row.power and f"turns.{row.name} =" in text:
            setattr(turns, row.name, getattr(turns, row.name) / scale**row.power)


class PresetAdd(AddPresetBase):
    """Mixin: keep or remove a preset of the active motion's settings."""

    preset_defines = ("settings = bpy.context.view_layer.objects.active.poise.settings",)

    def execute(self, context):
        try:
            return super().execute(context)
        except (OSError, UnicodeDecodeError) as error:
            # Blender cuts long names at a number of bytes, and disks have limits.
            self.report({"ERROR"}, tr(f"The preset cannot be kept under this name: {error}"))
            return {"CANCELLED"}


class POISE_OT_preset_add(PresetAdd, bpy.types.Operator):
    """Save the turns and the body's style as a preset, or remove the chosen preset"""

    bl_idname = "poise.preset_add"
    bl_label = "Add Turn Preset"
    preset_menu = "POISE_PT_turns_presets"

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if character is None or not (character.poise.kind and motions.active_motion(character)):
            cls.poll_message_set("No character with a motion is active")
            return False
        return True

    @property
    def preset_subdir(self):
        return presets.subdir(motions.active_character(bpy.context))

    @property
    def preset_values(self):
        character, motion = motions.require_motion(bpy.context)
        groups = [("turns", motion.poise_motion.turns)]
        style = MAPPINGS[character.poise.kind].group
        groups.append((style, getattr(motion.poise_motion, style)))
        return [
            f"settings.{group}.{prop.identifier}"
            for group, values in groups
            for prop in values.bl_rna.properties
            if not prop.is_readonly and prop.identifier not in {"name", "rna_type"}
        ]


CLASSES = (POISE_OT_preset_apply, POISE_OT_preset_add)
