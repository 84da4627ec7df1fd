import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 9.0
settings.turns.frequency = 0.25
settings.turns.sharpness = 0.5236
settings.turns.max_curvature = 0.15
settings.turns.max_curvature_rate = 0.6
settings.turns.slope = 0.1920
settings.turns.friction = 0.12
settings.telemark.set_named("classic")
