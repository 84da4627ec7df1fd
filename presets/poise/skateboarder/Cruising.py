import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 3.5
settings.turns.frequency = 0.3
settings.turns.sharpness = 0.2269
settings.turns.max_curvature = 1.0
settings.turns.max_curvature_rate = 4.0
settings.turns.slope = 0.0000
settings.turns.friction = 0.012
settings.skateboarder.set_named("cruising")
