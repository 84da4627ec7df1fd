import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 13.0
settings.turns.frequency = 0.25
settings.turns.sharpness = 0.6632
settings.turns.max_curvature = 0.12
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.2269
settings.turns.friction = 0.07
settings.telemark.set_named("carving")
