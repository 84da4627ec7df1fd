# SPDX-License-Identifier: GPL-3.0-or-later
"""How Poise's own characters are made: skeleton, armature, widgets, surfaces, skin.

`skeleton`, `surfaces`, `body`, `equipment` and `skin` are plain numpy;
`armature`, `widgets` and `figure_mesh` put their results into Blender.
"""
