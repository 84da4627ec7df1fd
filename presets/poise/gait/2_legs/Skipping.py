import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("SKIP", 0.0),
        ("WALK_BIPED", 16.6),
    ],
    speeds=[(0.0, 0.75), (14.0, 0.75), (17.0, 0.42)],
)
