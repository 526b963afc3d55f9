"""Scene files that irys_ti and Mitsuba 3 both load, for benchmarks of material and pose gradients."""

from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as iio
import numpy as np

HEAD = """<scene version="3.0.0">
<integrator type="path"><integer name="max_depth" value="{depth}"/><integer name="rr_depth" value="{rr}"/></integrator>
<sensor type="perspective"><float name="fov" value="{fov}"/><string name="fov_axis" value="x"/>
<transform name="to_world"><lookat origin="{eye}" target="{target}" up="0,1,0"/></transform>
<film type="hdrfilm"><integer name="width" value="{size}"/><integer name="height" value="{size}"/>
<rfilter type="box"/><string name="pixel_format" value="rgb"/></film><sampler type="independent"/></sensor>
"""
FLOOR = '<bsdf type="diffuse" id="floor"><spectrum name="reflectance" value="400:0.3,550:0.5,700:0.6"/></bsdf>\n'
LAMP = """<shape type="rectangle"><transform name="to_world"><rotate x="1" angle="90"/><translate y="3.5"/></transform>
<bsdf type="diffuse"><spectrum name="reflectance" value="0"/></bsdf>
<emitter type="area"><spectrum name="radiance" value="400:6,700:9"/></emitter></shape>
"""
SKY = '<emitter type="constant"><spectrum name="radiance" value="0.4"/></emitter>\n'
WIDE = {"fov": 36, "eye": "0,1.6,4", "target": "0,0.8,0", "depth": 6, "rr": 1000}


@dataclass(frozen=True)
class Case:
    """One scene, and the parameters whose gradients are compared: our path, Mitsuba's key.

    In its spectral variants Mitsuba keeps a texture's spectra as coefficients, so texels are compared in RGB alone.
    """

    name: str
    file: Path
    params: dict[str, str]
    rgb_only: tuple[str, ...] = ()


def plane(bsdf: str, half: float = 3.0) -> str:
    return f"""<shape type="rectangle"><transform name="to_world"><rotate x="1" angle="-90"/><scale value="{half}"/>
</transform><ref id="{bsdf}"/></shape>\n"""


def ball(bsdf: str, centre: str = "0,0.9,0", radius: float = 0.9, id: str = "ball") -> str:
    return f"""<shape type="sphere" id="{id}"><point name="center" value="{centre}"/>
<float name="radius" value="{radius}"/><ref id="{bsdf}"/></shape>\n"""


def wall(bsdf: str, turn: str) -> str:
    """A wall of a room two units wide whose floor is centred at the origin, facing inwards."""
    return f"""<shape type="rectangle"><transform name="to_world"><translate z="-1"/>{turn}<translate y="1"/></transform>
<ref id="{bsdf}"/></shape>\n"""


def room(balls: bool = True) -> str:
    paint = {"white": "0.7", "red": "400:0.1,550:0.1,700:0.7", "green": "400:0.1,550:0.6,700:0.1"}
    bsdfs = "".join(
        f'<bsdf type="diffuse" id="{id}"><spectrum name="reflectance" value="{v}"/></bsdf>\n' for id, v in paint.items()
    )
    walls = wall("white", "") + wall("white", '<rotate x="1" angle="-90"/>') + wall("white", '<rotate x="1" angle="90"/>')
    walls += wall("red", '<rotate y="1" angle="90"/>') + wall("green", '<rotate y="1" angle="-90"/>')
    lamp = """<shape type="rectangle"><transform name="to_world"><scale value="0.3"/><rotate x="1" angle="90"/>
<translate y="1.98"/></transform><bsdf type="diffuse"><spectrum name="reflectance" value="0"/></bsdf>
<emitter type="area"><spectrum name="radiance" value="400:14,700:20"/></emitter></shape>\n"""
    two = ball("white", "-0.35,0.4,-0.2", 0.4) + ball("red", "0.45,0.3,0.3", 0.3, "small")
    return bsdfs + walls + (two if balls else "") + lamp


def twenty() -> tuple[str, dict[str, str]]:
    """Four rows of five balls, each of a material of its own."""
    text, params = FLOOR, {}
    for i in range(20):
        id, x, z = f"m{i:02d}", 0.56 * (i % 5 - 2), 0.6 * (i // 5 - 2)
        tint = f"400:{0.2 + 0.03 * i:.2f},700:{0.8 - 0.03 * i:.2f}"
        if i % 4 == 1:
            text += f"""<bsdf type="roughconductor" id="{id}"><string name="material" value="Cu"/>
<string name="distribution" value="ggx"/><float name="alpha" value="{0.08 + 0.02 * i:.2f}"/></bsdf>\n"""
            params[f"{id}.alpha"] = f"{id}.alpha.value"
        else:
            text += f'<bsdf type="diffuse" id="{id}"><spectrum name="reflectance" value="{tint}"/></bsdf>\n'
            params[f"{id}.reflectance"] = f"{id}.reflectance.values"
        text += ball(id, f"{x:.2f},0.25,{z:.2f}", 0.25, f"s{i:02d}")
    return text + plane("floor") + LAMP + SKY, params


def pose_cases(folder: Path, size: int) -> list[Case]:
    """Three scenes in which one part moves: a box in a room, a ball on a floor, a card that throws a soft shadow."""
    folder.mkdir(parents=True, exist_ok=True)
    gold = """<bsdf type="roughconductor" id="metal"><string name="material" value="Au"/>
<string name="distribution" value="ggx"/><float name="alpha" value="0.25"/></bsdf>\n"""
    card = """<bsdf type="twosided" id="card"><bsdf type="diffuse"><spectrum name="reflectance" value="400:0.2,700:0.7"/></bsdf></bsdf>
<shape type="rectangle" id="part"><transform name="to_world"><scale value="0.4"/><rotate x="1" angle="-76"/>
<translate x="-0.1" y="1.1" z="-0.1"/></transform><ref id="card"/></shape>\n"""
    box = """<shape type="cube" id="part"><transform name="to_world"><scale x="0.3" y="0.6" z="0.3"/>
<rotate y="1" angle="18"/><translate x="-0.35" y="0.6" z="-0.3"/></transform><ref id="white"/></shape>\n"""
    inside = {"fov": 45, "eye": "0,1,3.4", "target": "0,1,0", "depth": 8, "rr": 1000}
    scenes = {
        "box in a room": (inside, room(balls=False) + box),
        "ball on a floor": (WIDE, gold + FLOOR + plane("floor") + ball("metal", id="part") + LAMP + SKY),
        "card above a floor": (WIDE, FLOOR + plane("floor") + card + LAMP + SKY),
    }
    return [write(folder, name, size, view, body, {"part.translation": "part.shift"}) for name, (view, body) in scenes.items()]


def write(folder: Path, name: str, size: int, view: dict, body: str, params: dict[str, str]) -> Case:
    file = folder / f"{name.replace(' ', '_')}.xml"
    file.write_text(HEAD.format(size=size, **view) + body + "</scene>\n")
    return Case(name, file, params, tuple(p for p in params if p.startswith("tiles.")))


def material_cases(folder: Path, size: int) -> list[Case]:
    """Six scenes written below ``folder``, with square films of ``size`` pixels."""
    folder.mkdir(parents=True, exist_ok=True)
    u, v = np.meshgrid(np.arange(64), np.arange(64))
    tiles = np.stack([40 + 2 * u, 60 + 120 * ((u // 8 + v // 8) % 2), 200 - 2 * v], -1).astype(np.uint8)
    iio.imwrite(folder / "tiles.png", tiles)
    textured = """<bsdf type="diffuse" id="tiles"><texture type="bitmap" name="reflectance">
<string name="filename" value="tiles.png"/></texture></bsdf>\n"""
    gold = """<bsdf type="roughconductor" id="metal"><string name="material" value="Au"/>
<string name="distribution" value="ggx"/><float name="alpha" value="0.25"/></bsdf>\n"""
    frost = """<bsdf type="roughdielectric" id="frost"><string name="distribution" value="ggx"/>
<float name="alpha" value="0.3"/><float name="int_ior" value="1.5"/><float name="ext_ior" value="1.0"/></bsdf>\n"""
    lacquer = """<bsdf type="principled" id="lacquer"><spectrum name="base_color" value="400:0.2,700:0.7"/>
<float name="roughness" value="0.4"/><float name="metallic" value="0.3"/><float name="clearcoat" value="0.8"/>
<float name="clearcoat_gloss" value="0.7"/></bsdf>\n"""
    floor = {"floor.reflectance": "floor.reflectance.values"}
    many, many_params = twenty()
    inside = {"fov": 45, "eye": "0,1,3.4", "target": "0,1,0", "depth": 8, "rr": 1000}
    above = {"fov": 40, "eye": "0,2.2,3.4", "target": "0,0.2,-0.2", "depth": 6, "rr": 1000}
    scenes = {
        "metal ball": (WIDE, gold + FLOOR + plane("floor") + ball("metal") + LAMP + SKY,
                       {"metal.alpha": "metal.alpha.value", **floor}),
        "room": (inside, room(), {f"{k}.reflectance": f"{k}.reflectance.values" for k in ("red", "green")}
                 | {"white.reflectance": "white.reflectance.value"}),
        "textured plane": (WIDE, gold + textured + plane("tiles") + ball("metal") + LAMP + SKY,
                           {"tiles.reflectance": "tiles.reflectance.data", "metal.alpha": "metal.alpha.value"}),
        "coated ball": (WIDE, lacquer + FLOOR + plane("floor") + ball("lacquer") + LAMP + SKY,
                        {"lacquer.base_color": "lacquer.base_color.values",
                         "lacquer.base_metalness": "lacquer.metallic.value",
                         "lacquer.specular_roughness": "lacquer.roughness.value",
                         "lacquer.coat_weight": "lacquer.clearcoat.value", **floor}),
        "rough glass ball": (WIDE, frost + FLOOR + plane("floor") + ball("frost") + LAMP + SKY,
                             {"frost.alpha": "frost.alpha.value", **floor}),
        "twenty materials": (above, many, many_params),
    }  # fmt: skip
    return [write(folder, name, size, view, body, params) for name, (view, body, params) in scenes.items()]
