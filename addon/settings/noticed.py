# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that presets and scripts change are noticed like those a person changes, and those
that are read once have no keys.

Blender evaluates a data-block anew after Python has set one of its
properties only if the property has an update function; the preview learns of
changes from that evaluation.
"""

from __future__ import annotations

import bpy


def _changed(self, context) -> None:
    """Nothing to do: that there is a function makes Blender evaluate the data-block."""


def notice(*classes: type) -> None:
    """Give the settings of property groups an update function where they have none.

    Args:
        classes: property groups that are not registered yet.
    """
    for cls in classes:
        for setting in cls.__annotations__.values():
            if setting.function is not bpy.props.CollectionProperty:
                setting.keywords.setdefault("update", _changed)


def hold(*classes: type) -> None:
    """Offer keys and drivers for those settings of property groups alone that are read at every
    step of a motion: of others they would do nothing, or change the past.

    Args:
        classes: property groups that are not registered yet.
    """
    for cls in classes:
        for name, setting in cls.__annotations__.items():
            if name not in getattr(cls, "SAMPLED", ()):
                options = setting.keywords.get("options", {"ANIMATABLE"})
                setting.keywords["options"] = options - {"ANIMATABLE"}
