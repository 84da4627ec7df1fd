import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 9.0
settings.turns.frequency = 0.182
settings.turns.sharpness = 0.3491
settings.turns.max_curvature = 0.15
settings.turns.max_curvature_rate = 0.6
settings.turns.slope = 0.1745
settings.turns.friction = 0.08
settings.skier.set_named("cruising")
