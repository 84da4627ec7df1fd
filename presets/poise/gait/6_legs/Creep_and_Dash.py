import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WAVE", 0.0),
        ("RIPPLE", 6.0),
        ("TRIPOD", 10.0),
    ],
    speeds=[(0.0, 0.1), (6.0, 0.2), (9.0, 0.35), (14.0, 0.9)],
)
