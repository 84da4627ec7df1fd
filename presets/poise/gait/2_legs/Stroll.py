import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK_BIPED", 0.0, {"width": 1.2, "strike": 0.8}),
    ],
    speeds=0.33,
)
