import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 13.0
settings.turns.frequency = 0.120
settings.turns.sharpness = 0.1396
settings.turns.max_curvature = 0.3
settings.turns.max_curvature_rate = 2.0
settings.turns.slope = 0.0
settings.turns.slope_direction = 0.0
settings.turns.friction = 0.006
settings.turns.drag_area = 0.36
settings.cyclist.set_named("sprint")
