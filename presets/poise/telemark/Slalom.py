import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 9.0
settings.turns.frequency = 0.4
settings.turns.sharpness = 0.6283
settings.turns.max_curvature = 0.26
settings.turns.max_curvature_rate = 1.2
settings.turns.slope = 0.2443
settings.turns.friction = 0.12
settings.telemark.set_named("slalom")
