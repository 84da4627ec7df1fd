import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK_BIPED", 0.0),
        ("JOG", 7.2),
        ("RUN", 19.0),
    ],
    speeds=[(0.0, 0.42), (6.0, 0.55), (10.0, 0.85), (18.0, 1.0), (26.0, 1.5), (50.0, 1.9)],
)
