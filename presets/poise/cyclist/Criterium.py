import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 11.0
settings.turns.frequency = 0.180
settings.turns.sharpness = 0.5760
settings.turns.max_curvature = 0.4
settings.turns.max_curvature_rate = 3.0
settings.turns.slope = 0.0
settings.turns.slope_direction = 0.0
settings.turns.friction = 0.006
settings.turns.drag_area = 0.34
settings.cyclist.set_named("criterium")
