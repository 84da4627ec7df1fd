import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 9.0
settings.turns.frequency = 0.357
settings.turns.sharpness = 0.4363
settings.turns.max_curvature = 0.16
settings.turns.max_curvature_rate = 0.7
settings.turns.slope = 0.2094
settings.turns.friction = 0.09
settings.snowboarder.set_named("freestyle")
