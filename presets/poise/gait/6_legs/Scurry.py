import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("TRIPOD", 0.0),
    ],
    speeds=0.8,
)
