import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WAVE", 0.0, {"lift": 1.5}),
    ],
    speeds=0.12,
)
