import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.turns.speed_mode = "KEYED"
settings.turns.speed = 10.0
settings.turns.frequency = 0.278
settings.turns.sharpness = 0.6632
settings.turns.max_curvature = 0.14
settings.turns.max_curvature_rate = 0.5
settings.turns.slope = 0.2094
settings.turns.friction = 0.07
settings.snowboarder.set_named("carving")
