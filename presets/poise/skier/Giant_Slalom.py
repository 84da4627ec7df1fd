import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 18.0
settings.turns.frequency = 0.355
settings.turns.sharpness = 0.8727
settings.turns.max_curvature = 0.1
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.2793
settings.turns.friction = 0.06
settings.skier.set_named("giant_slalom")
