import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 3.2
settings.turns.frequency = 0.150
settings.turns.sharpness = 0.0873
settings.turns.max_curvature = 0.5
settings.turns.max_curvature_rate = 2.0
settings.turns.slope = 0.0698
settings.turns.slope_direction = 3.1416
settings.turns.friction = 0.006
settings.turns.drag_area = 0.5
settings.cyclist.set_named("climbing")
