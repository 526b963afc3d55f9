"""What the BSDF matrices run over: every registered kind, and one from outside the package."""

from functools import cache
from types import SimpleNamespace

import numpy as np

from irys_ti import graph as g
from irys_ti.kernels import bsdf
from tests.bsdf import outside
from tests.bsdf.compiled import Compiled

OUTSIDE = "outside_velvet"
if OUTSIDE not in bsdf.BSDFS:
    bsdf.register(OUTSIDE, outside)

# Graphs of more operations, at more numbers, run as kernels instead of in NumPy.
LARGE, MANY = 150, 3000

WAVELENGTHS = np.array([440.0, 510.0, 580.0, 650.0])
WI, WO, U = g.leaf("wi", (3,)), g.leaf("wo", (3,)), g.leaf("u", (3,))
NAMES = sorted(bsdf.BSDFS)
SMOOTH = [n for n in NAMES if getattr(bsdf.BSDFS[n], "HAS_SMOOTH", True)]
DELTA = [n for n in NAMES if getattr(bsdf.BSDFS[n], "HAS_DELTA", False)]


def seed_of(name: str) -> int:
    return sum(ord(c) * (i + 1) for i, c in enumerate(name))


@cache
def model(name: str) -> "Model":
    """One Model per name: its kernels are compiled once."""
    return Model(name)


class Model:
    """One BSDF's graphs, with NumPy evaluation by parameter values."""

    def __init__(self, name: str):
        self.name, self.module = name, bsdf.find(name)
        self.params = self.module.PARAMS
        self.p = bsdf.parameters(self.module)
        self.leaves = {k: getattr(self.p, k) for k in self.params}
        self.norm = getattr(self.module, "NORM", {})
        self.transmissive = getattr(self.module, "TRANSMISSIVE", False)
        self.smooth, self.delta = getattr(self.module, "HAS_SMOOTH", True), getattr(self.module, "HAS_DELTA", False)
        if self.smooth:
            self.eval, self.pdf = self.module.eval(self.p, WI, WO), self.module.pdf(self.p, WI, WO)
        if self.delta:
            self.eval_delta = self.module.eval_delta(self.p, WI, WO)
            self.pdf_delta = self.module.pdf_delta(self.p, WI, WO)
        self.sample = self.module.sample(self.p, WI, U)
        # A model with eval_one, at the first wavelength: the same derivatives by a quarter of the arithmetic.
        self.ones = {k: g.leaf(f"one.{k}") for k in vars(self.p)} if hasattr(self.module, "eval_one") else {}
        self.one = self.module.eval_one(SimpleNamespace(**self.ones), WI, WO) if self.ones else None
        self.compiled: dict = {}

    def values(self, p: dict) -> dict:
        values = {self.leaves[k]: v for k, v in p.items()}
        return values | ({bsdf.LAMBDAS: WAVELENGTHS} if getattr(self.module, "NEEDS_LAMBDAS", False) else {})

    def values_of_one(self, p: dict) -> dict:
        """The values of eval_one's leaves: each spectrum's at the first wavelength."""
        shapes = {k: q.shape for k, q in self.params.items()} | {"lambdas": (4,)}
        values = p | {"lambdas": WAVELENGTHS}
        return {leaf: np.asarray(values[k])[..., 0] if shapes[k] else values[k] for k, leaf in self.ones.items()}

    def range(self, name: str) -> tuple[float, float]:
        """Where a parameter is usually: NORM, else its whole range."""
        return self.norm.get(name, (self.params[name].low, self.params[name].high))

    def run(self, exprs, p, wi, wo=None, u=None):
        env = self.values(p) | {WI: wi} | ({} if wo is None else {WO: wo}) | ({} if u is None else {U: u})
        if g.count(exprs) < LARGE or np.size(wi) + np.size(wo) + np.size(u) < MANY:
            return g.evaluate(exprs, env)
        key = (*exprs, *env)
        if key not in self.compiled:
            self.compiled[key] = Compiled(exprs, list(env))
        return self.compiled[key].run(env)

    def draw(self, p, wi, u) -> tuple[np.ndarray, np.ndarray]:
        """(wo, whether it is a delta direction) for uniforms u (n, 3)."""
        delta = self.sample.delta
        if isinstance(delta, bool):
            (wo,) = self.run([self.sample.wo], p, wi, u=u)
            return wo, np.full(len(wo), delta)
        return tuple(self.run([self.sample.wo, delta], p, wi, u=u))

    def settings(self, n: int | None = None) -> list[dict]:
        """The defaults, then n random settings inside the ranges (2; of a large model 1); flags alternate."""
        n = n or (1 if len(self.params) > 16 else 2)
        rng = np.random.default_rng(seed_of(self.name))
        out = [{k: full(q, q.default) for k, q in self.params.items()}]
        for i in range(n):
            p = {}
            for k, q in self.params.items():
                t = rng.uniform(0.15, 0.85, q.shape)
                low, high = self.range(k)
                p[k] = float((i + 1) % 2) if q.kind == "flag" else low + t * (high - low)
            out.append(p)
        return out

    def index(self, p: dict, z, band: int = 0):
        """Index of refraction on the side of a direction of height z."""
        if hasattr(self.module, "interior_index"):
            (inside,) = g.evaluate([self.module.interior_index(self.p)], self.values(p))
            return np.where(z > 0, 1.0, inside[band])
        if "int_ior" not in p:
            return np.ones_like(z)
        return np.where(z > 0, p["ext_ior"], p["int_ior"])


def full(param, value: float):
    return np.full(param.shape, value) if param.shape else float(value)


def direction(z: float, phi: float = 0.7) -> np.ndarray:
    r = np.sqrt(max(0.0, 1.0 - z * z))
    return np.array([r * np.cos(phi), r * np.sin(phi), z])


def sphere(rng, n: int, above: bool = False) -> np.ndarray:
    v = rng.standard_normal((n, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    if above:
        v[:, 2] = np.abs(v[:, 2])
    return v


def incident(model: Model) -> list[np.ndarray]:
    """Directions from normal to grazing, below the surface too where that is lit."""
    zs = [0.95, 0.5, 0.08] + ([-0.9, -0.3] if model.transmissive else [])
    return [direction(z) for z in zs]
