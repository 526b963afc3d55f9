"""Small scene files of every kind of light, shape and texture that both renderers load."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import trimesh

from irys_ti.io.images import write_image

SENSOR = """<sensor type="perspective"><float name="fov" value="45"/><string name="fov_axis" value="{axis}"/>
<transform name="to_world"><lookat origin="0.3,1.6,3.8" target="0,0.5,0" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="48"/><integer name="height" value="40"/><rfilter type="box"/>
<string name="pixel_format" value="rgb"/></film><sampler type="independent"/></sensor>"""
PAINT = '<bsdf type="diffuse"><spectrum name="reflectance" value="400:0.7,550:0.5,700:0.3"/></bsdf>'
TILES = """<bsdf type="diffuse"><texture type="bitmap" name="reflectance"><string name="filename" value="tex.png"/>
<transform name="to_uv"><scale x="3" y="2"/></transform></texture></bsdf>"""
NEAREST = """<bsdf type="diffuse"><texture type="bitmap" name="reflectance"><string name="filename" value="tex.png"/>
<string name="filter_type" value="nearest"/></texture></bsdf>"""
COPPER = """<bsdf type="roughconductor"><string name="material" value="Cu"/>
<string name="distribution" value="ggx"/><float name="alpha" value="0.2"/></bsdf>"""
ALLOY = """<bsdf type="twosided"><bsdf type="roughconductor"><string name="distribution" value="ggx"/>
<spectrum name="eta" value="400:1.6,700:0.2"/><spectrum name="k" value="400:1.9,700:3.9"/>
<float name="alpha" value="0.2"/></bsdf></bsdf>"""
GOLD = '<bsdf type="conductor"><string name="material" value="Au"/></bsdf>'
FROSTED = '<bsdf type="roughdielectric"><float name="alpha" value="0.15"/><string name="distribution" value="ggx"/></bsdf>'
ICE = """<bsdf type="roughdielectric"><float name="alpha" value="0.4"/><float name="int_ior" value="1.33"/>
<string name="distribution" value="ggx"/></bsdf>"""


def _floor(bsdf: str) -> str:
    return f"""<shape type="rectangle"><transform name="to_world"><rotate x="1" angle="-90"/><scale value="4"/>
</transform>{bsdf}</shape>"""


def _ball(bsdf: str) -> str:
    return f"""<shape type="sphere"><point name="center" value="0,0.6,0"/><float name="radius" value="0.6"/>
{bsdf}</shape>"""


# name -> (the scene's elements, max_depth, fov_axis)
SCENES = {
    "point": (
        _floor(PAINT) + _ball(COPPER) + """<emitter type="point"><point name="position" value="1.5,3,1"/>
<spectrum name="intensity" value="400:20,700:10"/></emitter>""", 6, "x"),
    "spot": (
        _floor(PAINT) + _ball(PAINT) + """<emitter type="spot"><transform name="to_world">
<lookat origin="1.5,3,1" target="0,0.3,0" up="0,1,0"/></transform><spectrum name="intensity" value="30"/>
<float name="cutoff_angle" value="25"/><float name="beam_width" value="15"/></emitter>""", 6, "x"),
    "directional": (
        _floor(PAINT) + _ball(GOLD) + """<emitter type="directional"><vector name="direction" value="-0.5,-1,-0.3"/>
<spectrum name="irradiance" value="400:2,700:4"/></emitter>
<emitter type="constant"><rgb name="radiance" value="0.2,0.3,0.5"/></emitter>""", 6, "y"),
    "envmap": (
        _floor(PAINT) + _ball('<bsdf type="dielectric"/>') + """<emitter type="envmap">
<string name="filename" value="env.exr"/><float name="scale" value="0.7"/>
<transform name="to_world"><rotate y="1" angle="70"/></transform></emitter>""", 6, "x"),
    "textured": (
        _floor(TILES) + f"""<shape type="cube"><transform name="to_world"><scale value="0.4"/><rotate y="1" angle="30"/>
<translate y="0.4"/></transform>{NEAREST}</shape>
<emitter type="constant"><spectrum name="radiance" value="1"/></emitter>""", 6, "x"),
    "meshes": (
        _floor(PAINT) + f"""<shape type="ply"><string name="filename" value="ball.ply"/><transform name="to_world">
<translate x="-0.8" y="0.5"/></transform>{FROSTED}</shape>
<shape type="obj"><string name="filename" value="ball.obj"/><transform name="to_world"><scale x="1" y="1.4" z="0.6"/>
<translate x="0.6" y="0.7"/></transform>{ALLOY}</shape>
<shape type="sphere"><point name="center" value="0,2.6,0"/><float name="radius" value="0.3"/>
<emitter type="area"><spectrum name="radiance" value="400:10,700:16"/></emitter></shape>""", 6, "x"),
    "instances": (
        _floor(PAINT) + """<shape type="shapegroup" id="g"><shape type="ply">
<string name="filename" value="ball.ply"/><bsdf type="diffuse"><rgb name="reflectance" value="0.8,0.3,0.1"/></bsdf>
</shape></shape><shape type="instance"><ref id="g"/><transform name="to_world"><scale x="0.8" y="1.2" z="0.7"/>
<rotate z="1" angle="30"/><translate x="-0.9" y="0.6"/></transform></shape>
<shape type="instance"><ref id="g"/><transform name="to_world"><translate x="0.7" y="0.5" z="0.3"/></transform></shape>
<shape type="rectangle"><transform name="to_world"><rotate x="1" angle="90"/><translate y="3"/></transform>
<emitter type="area"><rgb name="radiance" value="5,4,3"/></emitter></shape>""", 6, "x"),
    "inside": (
        """<shape type="sphere"><float name="radius" value="6"/><boolean name="flip_normals" value="true"/>
<bsdf type="diffuse"><spectrum name="reflectance" value="0.5"/></bsdf>
<emitter type="area"><spectrum name="radiance" value="0.5"/></emitter></shape>""" + _ball(ICE), 12, "x"),
}  # fmt: skip


def write_scenes(folder: Path) -> dict[str, Path]:
    """Write every scene, its meshes and its images into a folder; name -> file."""
    rng = np.random.default_rng(1)
    iio.imwrite(folder / "tex.png", (rng.random((8, 6, 3)) * 255).astype(np.uint8))
    environment = (0.2 + rng.random((16, 32, 3))).astype(np.float32)
    environment[3:5, 20:23] = [30, 25, 20]
    write_image(folder / "env.exr", environment)
    ball = trimesh.creation.icosphere(2, 0.5)
    ball.export(folder / "ball.ply")
    ball.export(folder / "ball.obj")
    out = {}
    for name, (body, depth, axis) in SCENES.items():
        out[name] = folder / f"{name}.xml"
        integrator = f"""<integrator type="path"><integer name="max_depth" value="{depth}"/>
<integer name="rr_depth" value="1000"/></integrator>"""
        text = f'<scene version="3.0.0">{integrator}{SENSOR.format(axis=axis)}{body}</scene>'
        out[name].write_text(text)
    return out
