import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK", 0.0),
        ("TROT", 10.0, {"lift": 1.4, "bounce": 1.2}),
        ("CANTER_LEFT", 26.0, {"bounce": 1.2}),
        ("TROT", 44.0, {"lift": 1.4, "bounce": 1.2}),
        ("CANTER_RIGHT", 60.0, {"bounce": 1.2}),
        ("TROT", 76.0, {"lift": 1.4, "bounce": 1.2}),
        ("WALK", 84.0),
    ],
    speeds=[
        (0.0, 0.42), (8.0, 0.42), (12.0, 0.85), (24.0, 0.85), (28.0, 1.35), (42.0, 1.35),
        (46.0, 0.85), (58.0, 0.85), (62.0, 1.35), (74.0, 1.35), (78.0, 0.85), (81.0, 0.85),
        (85.0, 0.42),
    ],
)
