import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 6.5
settings.turns.frequency = 0.220
settings.turns.sharpness = 0.4189
settings.turns.max_curvature = 0.6
settings.turns.max_curvature_rate = 3.0
settings.turns.slope = 0.1047
settings.turns.slope_direction = 0.0
settings.turns.friction = 0.006
settings.turns.drag_area = 0.5
settings.cyclist.set_named("mountain")
