import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 7.0
settings.turns.frequency = 0.455
settings.turns.sharpness = 0.5236
settings.turns.max_curvature = 0.3
settings.turns.max_curvature_rate = 1.2
settings.turns.slope = 0.2443
settings.turns.friction = 0.12
settings.skier.set_named("short")
