# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying and saving presets, and copying settings from one character to others."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, StringProperty

from ..addon import motions
from ..addon.base_operator import SettingsOperator, one_line
from ..addon.errors import UserError
from ..addon.mapping.registry import MAPPINGS, STYLE_GROUPS
from ..addon.scene.sampling import is_animated
from ..addon.scene.timing import scene_numbers
from ..addon.settings.motion import KINDS
from ..addon.texts import tr
from ..addon.ui import preset_files, presets


def _with_motion(cls, context):
    character = motions.active_character(context)
    if character is None or motions.active_motion(character) is None:
        cls.poll_message_set("No character with a motion is active")
        return False
    return True


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

    all_selected: BoolProperty(
        name="All Selected",
        description="Set it for all selected characters that it is for, not for the active alone",
        default=True,
    )

    @classmethod
    def poll(cls, context):
        return _with_motion(cls, context)

    def draw(self, context):
        self.layout.prop(self, "all_selected")

    def run(self, context):
        character, motion = motions.require_motion(context)
        path = self.filepath or presets.find(character, self.name)
        if not path:
            raise UserError(f"There is no preset called {self.name!r} for {character.name}")
        if not path.lower().endswith(".py"):
            raise UserError(f"{path} is no preset: choose a .py file that Blender's presets made")
        found = [motion]
        if self.all_selected:
            others = motions.selected_characters(context)[1:]
            found += [motions.active_motion(o) for o in others if presets.alike(path, o, character)]
        before = [(each, _stored(each)) for each in found]
        try:
            changes = preset_files.read(path, _groups())
            for each in found:
                preset_files.apply(changes, each.poise_motion)
        except (ValueError, OSError) as error:  # a file that anyone may have written
            for each, values in before:
                _bring_back(each, *values)
            raise UserError(f"The preset {path} could not be applied: {error}") from error
        for each in found if path.startswith(presets.ROOT) and not presets.is_gaits(path) else ():
            _from_si(context, each.poise_motion.turns, path)
        label = bpy.path.display_name(bpy.path.basename(path), title_case=False)
        if self.menu_idname:
            getattr(bpy.types, self.menu_idname).bl_label = label
        keyed = _keyed(before)
        if keyed:
            self.report({"WARNING"}, one_line(
                f"{label}: {', '.join(keyed)} of {motion.name} keep their keys or drivers, which "
                "win over the preset: delete them where its values are to count"
            ))
        return f"{motion.name if len(found) == 1 else f'{len(found)} motions'}: {label}"


def _keyed(before):
    """Labels of settings that were set, but whose keys or drivers count; `before` has
    (motion, what `_stored` gave) of each motion."""
    found = []
    for motion, (values, _gaits, _speeds) in before:
        for group in _groups():
            settings = getattr(motion.poise_motion, group)
            names = tuple(
                name for (of, name), value in values.items()
                if of == group and value != _value(settings, name)
            )
            keyed = is_animated(motion, group, names)
            found += [settings.bl_rna.properties[name].name for name in names if name in keyed]
    return list(dict.fromkeys(found))


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
                found[name, prop.identifier] = _value(group, prop.identifier)
    return found


def _value(group, setting):
    return getattr(group, setting) if group.is_property_set(setting) else None


def _stored(motion):
    """Everything that a preset may set, for `_bring_back`."""
    gait = motion.poise_motion.gait
    return _values(motion), gait.stored(), gait.speed_pairs(1.0)


def _bring_back(motion, values, gaits, speeds):
    gait = motion.poise_motion.gait
    gait.bring_back(gaits)
    gait.speed_points.clear()
    for distance, speed in speeds:
        gait.add_speed(distance, speed)
    for name in ("sequence", "speed_points"):
        if not len(getattr(gait, name)):
            gait.property_unset(name)
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


def _setting(motion, path):
    """(group, name) of a setting like "turns.speed" of a motion; None where it has none."""
    group, _, name = path.rpartition(".")
    owner = getattr(motion.poise_motion, group, None) if group else motion.poise_motion
    found = [row for row in getattr(owner, "ROWS", ()) if row.name == name]
    return (owner, name) if found else None


class POISE_OT_settings_copy(SettingsOperator, bpy.types.Operator):
    """Copy the active motion's settings, gaits and style to those of other selected characters"""

    bl_idname = "poise.settings_copy"
    bl_label = "Copy Settings to Selected"

    setting: StringProperty(
        name="Setting",
        description="The only one to copy, such as turns.speed; empty for all",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        if not _with_motion(cls, context):
            return False
        if len(motions.selected_characters(context)) < 2:
            cls.poll_message_set("Select other characters with motions, too, the active one last")
            return False
        return True

    def run(self, context):
        _character, motion = motions.require_motion(context)
        if self.setting and _setting(motion, self.setting) is None:
            raise UserError(f"{motion.name} has no setting {self.setting!r} that can be copied")
        found = [motions.active_motion(o) for o in motions.selected_characters(context)[1:]]
        kind = motion.poise_motion.kind
        others = [other for other in found if other.poise_motion.kind == kind]
        if not others:
            raise UserError(
                f"No other selected character's active motion is of the kind of {motion.name}: "
                "select some whose Motion is the same"
            )
        for other in others:
            if self.setting:
                (here, name), (there, _name) = (_setting(m, self.setting) for m in (motion, other))
                setattr(there, name, getattr(here, name))
                continue
            for group in _groups_of_both(motion, other):
                getattr(other.poise_motion, group).take_from(getattr(motion.poise_motion, group))
        told = others[0].name if len(others) == 1 else f"{len(others)} motions"
        return f"Copied settings of {motion.name} to {told}"


def _groups_of_both(one, other):
    """Names of the groups of settings that two motions of one kind both go by."""
    groups = [next(kind.group for kind in KINDS if kind.name == one.poise_motion.kind)]
    bodies = [motion.poise_motion.character.poise for motion in (one, other)]
    names = [body.kind or body.machine for body in bodies]
    styles = [MAPPINGS[name].group for name in names if name in MAPPINGS]
    if len(styles) == 2 and styles[0] == styles[1]:
        groups += [styles[0], "eyes"]
    return groups


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


CLASSES = (POISE_OT_preset_apply, POISE_OT_preset_add, POISE_OT_settings_copy)
