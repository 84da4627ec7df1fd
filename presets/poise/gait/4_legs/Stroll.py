import bpy

settings = bpy.context.view_layer.objects.active.poise.settings

settings.gait.set_list(
    [
        ("WALK", 0.0, {"bounce": 1.1}),
    ],
    speeds=0.33,
)
