# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting up a rig that Poise did not make, and leaving it as it was."""

from dataclasses import replace

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..addon import baking, families, motions
from ..addon.base_operator import ByMenu, SettingsOperator
from ..addon.context import keep_selection, object_mode
from ..addon.rigs import characters, roles
from ..addon.rigs.controls import control_rig
from ..addon.rigs.equipment import own_equipment
from ..addon.rigs.pose.channels import bone_of
from ..addon.rigs.recognise import engine_bones, rigify
from ..addon.rigs.recognise.recognition import legs_left
from ..addon.rigs.recognise.rolemap import ENGINE
from ..addon.scene.timing import scene_numbers
from ..addon.shots import footprints, trail
from ..addon.texts import tr
from . import motion as motion_list

# What rigs can be set up as, numbered as in all characters.
KINDS = tuple(
    (name, kind.label, kind.description, "ARMATURE_DATA", number)
    for number, (name, kind) in enumerate(characters.KINDS.items())
    if name in control_rig.KINDS
)


class OnRig(SettingsOperator):
    """Mixin: for the active armature that is none of Poise's own characters."""

    @classmethod
    def poll(cls, context):
        rig = motions.active_rig(context)
        if rig is None:
            cls.poll_message_set("No character is active: select a rig, or its mesh")
            return False
        if rig.type != "ARMATURE":
            cls.poll_message_set(
                tr(f"{rig.name} is no armature: choose a character for the motion")
            )
            return False
        if characters.kind_of(rig):
            cls.poll_message_set("Poise built this character: it needs no set-up and no roles")
            return False
        return True


class POISE_OT_rig_setup(ByMenu, OnRig, bpy.types.Operator):
    """Give the selected rig Poise's controls and equipment, fitted to its size, and a motion"""

    bl_idname = "poise.rig_setup"
    bl_label = "Set Up Rig"
    menu = "POISE_MT_rig_setup"

    kind: EnumProperty(
        name="Kind", description="What the rig is to do", items=KINDS, options={"SKIP_SAVE"}
    )
    mass: FloatProperty(
        name="Mass",
        description="Mass of the figure with its equipment; 0 takes it from the rig's size",
        default=0.0,
        min=0.0,
        max=1000.0,
        soft_max=150.0,
        unit="MASS",
    )
    goofy: BoolProperty(name="Goofy", description="Right foot in front (on a board)", default=False)
    engine_bones: BoolProperty(
        name="Engine Bones",
        description="Let bones of game engines that hang on the root (ik_foot, ik_hand, weapon) "
        "follow feet and hands, live and when baked to bones",
        default=False,
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "kind")
        layout.prop(self, "mass")
        if characters.has_stances(self.kind):
            layout.prop(self, "goofy")
        layout.prop(self, "engine_bones")

    def _with_engine_bones(self, rig, found, picked):
        """A role map with bones of game engines: all if they are asked for, or those picked."""
        known = {
            role: bone for role, bone in found.roles.items()
            if role.split(".")[0] not in ENGINE or role in picked
        }
        if self.engine_bones and found.body == "BIPED":
            known = engine_bones(roles.skeleton(rig, found), known) | known
        return replace(found, roles=known)

    def run(self, context):
        rig = motions.active_rig(context)
        numbers, curve = scene_numbers(context.scene), motion_list.selected_curve(context)
        before = control_rig.controls_of(rig)
        existing = motions.motions_of(before or rig) + motions.left_of(rig)
        motion = next((m for m in existing if m.poise_motion.is_active), (existing or [None])[0])
        with keep_selection(context), object_mode(context):
            if motion is not None and motion.poise_motion.roles:
                found = roles.role_map(rig, motion.poise_motion)
            else:
                found = roles.find(rig)
            picked = {} if motion is None else roles.picked(motion.poise_motion)
            found = self._with_engine_bones(rig, found, picked)
            # Whatever this refuses, what was set up before is still there.
            measured = control_rig.measure(
                rig, roles.skeleton(rig, found), found, numbers.unit_scale, self.kind
            )
            kind_before = characters.kind_of(before)
            stock = None if before is None else own_equipment.stock_of(before)
            for other in existing:
                if baking.is_baked(other):
                    baking.clear(context, other)
            if before is not None:
                unheld = _unheld(before)
                stock.hidden[:] = [role for role in stock.hidden if role not in unheld]
                control_rig.remove(before)
                context.view_layer.update()
            controls = control_rig.set_up(
                context, rig, measured, self.kind, mass=self.mass, regular=not self.goofy
            )
            if stock is not None:
                own_equipment.restock(controls, stock)
            # Nobody carries them: poles would go along in the air.
            unheld = _unheld(controls)
            for role in unheld:
                own_equipment.hide(controls, role, True)
            for other in existing:
                other.poise_motion.character, other.poise_motion.rig = controls, rig
            if motion is None:
                motion = motions.add_motion(context, controls)
            settings = motion.poise_motion
            if roles.stored(settings) != found.roles:
                roles.fill(settings, found)
            if kind_before != self.kind:
                for other in motions.motions_of(controls):
                    families.begin(other, numbers.unit_scale)
                    other.poise_motion.turns.slope = characters.KINDS[self.kind].slope
        along = ""
        if curve is not None and not existing and families.go_along(motion, curve):
            along = f"; it goes along {curve.name}"
        label = characters.KINDS[self.kind].label
        bones = {bone_of(path) for path in control_rig.resting(controls, rig)}
        rests = f"; IK and stretch of {', '.join(sorted(bones))} rest meanwhile" if bones else ""
        unsure = f", {len(found.unsure)} of them unsure" if found.unsure else ""
        left = legs_left(measured.rest, found)
        odd = f"; {', '.join(left)} stays as it is: legs move in pairs" if left else ""
        bare = _bare(controls, unheld) + _stiff(measured) + along
        if rigify.is_metarig(measured.rest):
            self.report({"WARNING"}, tr(rigify.UNGENERATED))
        return (
            f"{rig.name} is set up as {label}: {len(found.roles)} roles{unsure}{rests}{odd}{bare}; "
            "set its motion, then Bake to Rig"
        )


def _unheld(controls):
    """Roles of the equipment that hands would hold on sides where the rig has no arm."""
    known = own_equipment.roles_of(controls)
    return [f"pole.{side}" for side in control_rig.armless(controls) if f"pole.{side}" in known]


def _bare(controls, unheld):
    """What is said of a rig without arms that would hold something, or ""."""
    sides = control_rig.armless(controls)
    bars = "bike" in own_equipment.roles_of(controls)
    if not sides or not (unheld or bars):
        return ""
    what = "hand is on the handlebars" if bars else "pole is carried"
    if len(sides) == 2:
        return f"; it has no arms, so no {what}"
    return f"; it has no {'left' if sides == ['L'] else 'right'} arm, so no {what} on that side"


def _stiff(measured):
    """What is said of straight forelegs that cannot be moved where they hang, or ""."""
    bones = () if measured.creature is None else measured.creature.stiff
    if not bones:
        return ""
    said = f"; {' and '.join(bones)} cannot be moved, so these straight legs buckle under load: "
    if measured.own is not None:
        return said + "give the meta-rig shoulder bones and generate it anew"
    return said + "take Connected off them in Edit Mode and set it up again"


class POISE_OT_rig_remove(SettingsOperator, bpy.types.Operator):
    """Take Poise off the rig: its motions, bakes, controls, equipment and constraints"""

    bl_idname = "poise.rig_remove"
    bl_label = "Remove from Rig"

    keep_keys: BoolProperty(
        name="Keep Baked Bones",
        description="Keep the actions that Bake to Bones wrote on the rig",
        default=False,
    )

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if not control_rig.drives(character) and not motions.is_left_alone(character):
            cls.poll_message_set("The active character drives no rig: select one that was set up")
            return False
        return True

    def run(self, context):
        controls = motions.active_character(context)
        rig = control_rig.rig_of(controls)
        if not control_rig.drives(controls):  # they were deleted
            controls, rig = None, controls
        with keep_selection(context), object_mode(context):
            for motion in motions.left_of(rig) + motions.motions_of(controls or rig):
                if self.keep_keys:
                    baking.leave_bones(motion)
                if baking.is_baked(motion):
                    baking.clear(context, motion)
                trail.remove_helpers(motion)
                footprints.remove(motion)
                bpy.data.objects.remove(motion)
            if controls is None:
                own_equipment.release_left()
                control_rig.remove_left(rig)
            else:
                own_equipment.detach(controls, own_equipment.roles_of(controls))
                control_rig.remove(controls)
            # Blender 4.5 goes through freed objects of the layer otherwise.
            context.view_layer.update()
        if rig is None or rig.name not in context.view_layer.objects:
            return "The controls of a rig that is not there any more are gone"
        context.view_layer.objects.active = rig
        rig.select_set(True)
        return f"{rig.name} is as it was before it was set up"


CLASSES = (POISE_OT_rig_setup, POISE_OT_rig_remove)
