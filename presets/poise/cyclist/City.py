import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 4.5
settings.turns.frequency = 0.140
settings.turns.sharpness = 0.2094
settings.turns.max_curvature = 0.6
settings.turns.max_curvature_rate = 2.0
settings.turns.slope = 0.0
settings.turns.slope_direction = 0.0
settings.turns.friction = 0.006
settings.turns.drag_area = 0.55
settings.cyclist.set_named("city")
