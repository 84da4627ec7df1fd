import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 3.6
settings.turns.frequency = 0.38
settings.turns.sharpness = 0.3665
settings.turns.max_curvature = 1.2
settings.turns.max_curvature_rate = 5.0
settings.turns.slope = 0.0524
settings.turns.friction = 0.012
settings.skateboarder.set_named("carving")
