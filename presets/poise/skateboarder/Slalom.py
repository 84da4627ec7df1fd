import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 4.5
settings.turns.frequency = 0.75
settings.turns.sharpness = 0.3142
settings.turns.max_curvature = 1.4
settings.turns.max_curvature_rate = 8.0
settings.turns.slope = 0.0698
settings.turns.friction = 0.012
settings.skateboarder.set_named("slalom")
