"""Cycles' side of a comparison, run by a Python that has ``bpy`` (4.5). On the CPU, without denoiser or adaptivity."""

import math
import sys

from benchmarks.sides import serve


def load(room: dict, size: int, sun: float = 3.0):
    """Build benchmarks.rooms' description. sun: the lamp's strength; the sky has the same sun's direction."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    settings(scene, room, size)
    made = {}
    for i, part in enumerate(room["parts"]):
        mesh = bpy.data.meshes.new(f"part {i}")
        mesh.from_pydata([up(v) for v in part["vertices"]], [], part["faces"])
        if part["smooth"]:
            mesh.shade_smooth()
        key = repr((part["material"], part["glow"]))
        made[key] = made.get(key) or material(bpy, part["material"], part["glow"])
        mesh.materials.append(made[key])
        scene.collection.objects.link(bpy.data.objects.new(f"part {i}", mesh))
    camera(bpy, scene, room)
    if room["sky"]:
        sky(bpy, scene, room["sun"], sun)


def up(v) -> tuple:
    """From y up to z up."""
    return (v[0], -v[2], v[1])


def settings(scene, room: dict, size: int) -> None:
    scene.render.engine = "CYCLES"
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.use_persistent_data = True
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    cycles = scene.cycles
    cycles.device = "CPU"
    cycles.use_denoising = cycles.use_adaptive_sampling = False
    cycles.pixel_filter_type, cycles.filter_width = "BOX", 1.0
    cycles.blur_glossy = cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0.0
    for name in ("max_bounces", "diffuse_bounces", "glossy_bounces", "transmission_bounces", "transparent_max_bounces"):
        setattr(cycles, name, room["depth"] - 1)


def material(bpy, given: dict, glow: float):
    made = bpy.data.materials.new("material")
    made.use_nodes = True
    nodes, links = made.node_tree.nodes, made.node_tree.links
    nodes.clear()
    out = nodes.new("ShaderNodeOutputMaterial")
    color = (*given["color"], 1.0)
    if glow:
        shader = nodes.new("ShaderNodeEmission")
        shader.inputs["Color"].default_value, shader.inputs["Strength"].default_value = (1, 1, 1, 1), glow
    elif given["kind"] == "glass":
        shader = nodes.new("ShaderNodeBsdfGlass")
        shader.inputs["Roughness"].default_value, shader.inputs["IOR"].default_value = given["roughness"], 1.5
    elif given["kind"] == "diffuse":
        shader = nodes.new("ShaderNodeBsdfDiffuse")
        shader.inputs["Color"].default_value = color
    else:
        shader = nodes.new("ShaderNodeBsdfPrincipled")
        shader.inputs["Base Color"].default_value = color
        shader.inputs["Roughness"].default_value = given["roughness"]
        shader.inputs["Metallic"].default_value = 1.0 if given["kind"] == "metal" else 0.0
    links.new(shader.outputs[0], out.inputs["Surface"])
    return made


def camera(bpy, scene, room: dict) -> None:
    from mathutils import Vector

    data = bpy.data.cameras.new("camera")
    data.angle = math.radians(room["fov"])
    eye = bpy.data.objects.new("camera", data)
    eye.location = up(room["eye"])
    eye.rotation_euler = (Vector(up(room["target"])) - eye.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(eye)
    scene.camera = eye


def sky(bpy, scene, towards, strength: float) -> None:
    from mathutils import Vector

    direction = Vector(up(towards)).normalized()
    world = bpy.data.worlds.new("world")
    scene.world = world
    world.use_nodes = True
    nodes, links = world.node_tree.nodes, world.node_tree.links
    texture = nodes.new("ShaderNodeTexSky")
    texture.sky_type = "HOSEK_WILKIE"
    texture.sun_direction, texture.turbidity, texture.ground_albedo = direction, 3.0, 0.3
    links.new(texture.outputs[0], nodes["Background"].inputs["Color"])
    lamp = bpy.data.lights.new("sun", "SUN")
    lamp.energy, lamp.angle = strength, math.radians(0.533)
    sun = bpy.data.objects.new("sun", lamp)
    sun.rotation_euler = direction.to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(sun)


def render(spp: int, seed: int, out: str):
    """Write a picture of so many samples as EXR."""
    import bpy

    scene = bpy.context.scene
    scene.cycles.samples, scene.cycles.seed, scene.render.filepath = spp, seed, out
    bpy.ops.render.render(write_still=True)


def facts():
    import bpy

    return {"renderer": f"Cycles {bpy.app.version_string}", "variant": "CPU"}


if __name__ == "__main__":
    serve(sys.modules[__name__])
