import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 12.0
settings.turns.frequency = 0.526
settings.turns.sharpness = 0.8029
settings.turns.max_curvature = 0.26
settings.turns.max_curvature_rate = 1.2
settings.turns.slope = 0.2967
settings.turns.friction = 0.1
settings.skier.set_named("slalom")
