import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK", 0.0),
    ],
    speeds=[(0.0, 0.4), (8.0, 0.4), (10.0, 0.0)],
)
