import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK_BIPED", 0.0),
    ],
    speeds=[(0.0, 0.45), (8.0, 0.45), (9.5, 0.0)],
)
