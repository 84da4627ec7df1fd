import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 6.0
settings.turns.frequency = 0.18
settings.turns.sharpness = 0.2443
settings.turns.max_curvature = 0.15
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.1047
settings.turns.friction = 0.15
settings.telemark.set_named("beginner")
