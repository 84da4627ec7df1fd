import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 8.0
settings.turns.frequency = 0.200
settings.turns.sharpness = 0.3840
settings.turns.max_curvature = 0.15
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.1745
settings.turns.friction = 0.09
settings.snowboarder.set_named("cruising")
