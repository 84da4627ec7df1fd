import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 12.0
settings.turns.frequency = 0.250
settings.turns.sharpness = 0.6981
settings.turns.max_curvature = 0.12
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.2094
settings.turns.friction = 0.06
settings.skier.set_named("carving")
