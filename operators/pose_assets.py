# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators share that take poses from Blender's pose library."""

from collections.abc import Collection

import bpy
from bpy.props import BoolProperty, StringProperty

from ..addon.errors import UserError
from ..addon.rigs.pose import assets
from ..addon.rigs.pose.posture import Posture, Source

Wanted = tuple[float, str, Posture]
"""Frame, name ("" for a default), and how bones stand then."""


def told(source: Source) -> str:
    """Where a pose comes from, in words.

    Args:
        source: where it was read.
    """
    if not source.action:
        return "Current Pose"
    return f"{source.action}, frame {source.frame:g}{', flipped' if source.mirrored else ''}"


def refuse_bake(motion: bpy.types.Object, action: bpy.types.Action) -> None:
    """Refuse to take poses from what a motion has baked itself.

    Args:
        motion: the Motion object.
        action: where they are to come from.

    Raises:
        UserError: it is the motion's bake.
    """
    if action in {motion.poise_motion.bake_action, motion.poise_motion.bones.bake_action}:
        raise UserError(
            f"Action {action.name} is the bake of {motion.name}: clear it, and take the poses "
            "from what it lies on"
        )


def _choices(_operator, _context, _typed) -> list[str]:
    """Names of the pose assets."""
    return assets.names()


class FromAsset:
    """Mixin of operators with a `source`: where that is ASSET, poses come from a pose asset."""

    asset: StringProperty(
        name="Pose Asset", description="Which of this file's pose assets", search=_choices,
    )
    library: StringProperty(
        name="Library", description="File that the pose asset is linked from, if it is not in "
        "this one", subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"},
    )
    flipped: BoolProperty(
        name="Flipped", description="Exchange left and right in the pose asset", default=False,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context, event):
        if self.source != "ASSET":
            return self.execute(context)
        shown = getattr(context, "asset", None)  # in an asset browser
        if shown is not None and shown.id_type == "ACTION":
            local = shown.local_id
            self.asset = shown.name if local is None else local.name_full
            self.library = "" if local is not None else shown.full_library_path
            return self.execute(context)
        known = assets.names()
        if not known:
            return self.execute(context)  # which tells how to make one
        if self.asset not in known:
            self.asset = known[0]
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "source")
        if self.source == "ASSET":
            layout.prop(self, "asset", icon="ASSET_MANAGER")
            layout.prop(self, "flipped")
        self.draw_more(layout)

    def draw_more(self, layout: bpy.types.UILayout) -> None:
        """What else is asked.

        Args:
            layout: where it is drawn.
        """

    def wanted_of(
        self, context, motion: bpy.types.Object, rig: bpy.types.Object,
        bones: Collection[str] = (), places: bool = False,
    ) -> tuple[bpy.types.Action, list[Wanted]]:
        """The asset, and its postures: its first key now, the others as much later as they are.

        Args:
            context: Blender's context.
            motion: the Motion object.
            rig: the rig.
            bones: names of the bones that are meant; none for all that it poses.
            places: whether bones count, too, that it moves without turning them.

        Raises:
            UserError: there is no such asset, or it poses none of the bones.
        """
        action, now = assets.find(self.asset, self.library), context.scene.frame_current_final
        refuse_bake(motion, action)
        found = assets.postures(rig, action, bones, self.flipped, places)
        first = found[0].source.frame
        return action, [
            (now + (posture.source.frame - first),
             f"{action.name} {k}" if len(found) > 1 else action.name, posture)
            for k, posture in enumerate(found, 1)
        ]
