import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("TROT", 0.0),
        ("ROTARY_LEFT", 7.0),
    ],
    speeds=[(0.0, 1.0), (6.0, 1.2), (16.0, 2.4), (36.0, 3.2)],
)
