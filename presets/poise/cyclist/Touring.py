import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 6.0
settings.turns.frequency = 0.160
settings.turns.sharpness = 0.2793
settings.turns.max_curvature = 0.5
settings.turns.max_curvature_rate = 2.5
settings.turns.slope = 0.0
settings.turns.slope_direction = 0.0
settings.turns.friction = 0.006
settings.turns.drag_area = 0.5
settings.cyclist.set_named("touring")
