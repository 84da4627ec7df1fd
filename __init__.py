# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise: physically based character motion that animators can direct.

Nothing is imported until Blender asks for it, so that the solvers can be
loaded (and tested) by a plain Python that has no bpy.
"""


def register() -> None:
    """Register every Poise class, handler and menu with Blender."""
    from .addon import registration

    registration.register()


def unregister() -> None:
    """Undo `register` in reverse order."""
    from .addon import registration

    registration.unregister()
