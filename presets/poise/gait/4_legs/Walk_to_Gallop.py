import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK", 0.0),
        ("TROT", 6.8),
        ("CANTER_LEFT", 21.0),
        ("GALLOP_LEFT", 40.0),
    ],
    speeds=[
        (0.0, 0.4), (6.0, 0.45), (10.0, 0.95), (18.0, 1.2), (26.0, 1.65), (36.0, 1.9), (46.0, 2.5),
        (60.0, 2.8),
    ],
)
