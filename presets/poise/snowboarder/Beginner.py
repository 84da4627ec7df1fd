import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 5.0
settings.turns.frequency = 0.167
settings.turns.sharpness = 0.1571
settings.turns.max_curvature = 0.15
settings.turns.max_curvature_rate = 0.4
settings.turns.slope = 0.1047
settings.turns.friction = 0.15
settings.snowboarder.set_named("beginner")
