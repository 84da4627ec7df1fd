import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 2.5
settings.turns.frequency = 0.22
settings.turns.sharpness = 0.1047
settings.turns.max_curvature = 0.8
settings.turns.max_curvature_rate = 3.0
settings.turns.slope = 0.0000
settings.turns.friction = 0.015
settings.skateboarder.set_named("beginner")
