"""BSDFs, one file each: forward text only, as graphs; every derivative is made from it.

A BSDF is a module, or any object, with

- ``PARAMS``: name -> Param; ``p.<name>`` below is its graph value, a spectrum (4,) or a scalar ();
- ``eval(p, wi, wo)``: the smooth part times |cos theta_o|, a spectrum, for radiance going from wo to wi
  (transmission carries the factor (n_i / n_o)^2);
- ``pdf(p, wi, wo)``: the density, per solid angle, with which ``sample`` makes a smooth wo, the probability
  of its lobe included; never differentiated;
- ``sample(p, wi, u) -> Sample(wo, delta)``: u is a vec3 of uniforms in [0, 1). A sample that fails has a wo
  at which eval and pdf are 0;
- with ``HAS_DELTA = True``: ``eval_delta(p, wi, wo)`` and ``pdf_delta(p, wi, wo)``, the discrete value and
  probability of a wo that ``sample`` made with delta true. A lobe whose value is 0 keeps a probability
  above 0, so that its derivative is seen;
- with ``HAS_SMOOTH = False``: no ``eval`` and ``pdf``;
- optional ``why_no_gradient(name, values)``: why a parameter that has a derivative elsewhere has none in a
  material with these values ("" where it has one), so that a gradient is refused rather than zero;
- with ``TRANSMISSIVE = True``: wo may lie below the surface;
- with ``NEEDS_LAMBDAS = True``: ``p.lambdas``, the four wavelengths in nm, beside the parameters;
- with ``interior_index(p)``: the index below the surface over that above, where it has no ``int_ior``;
- with ``RECIPROCAL = False``: eval is not the same both ways;
- with ``variants(materials)``: smaller versions of itself, by what each material uses (see ``versions``);
- with ``eval_one(p, wi, wo)``: the same value with p's spectra as scalars, for code that loops over wavelengths.

wi points to the previous vertex, wo to the next; both are unit vectors, local, with z the shading
normal. ``docs/adding_a_bsdf.md`` is the recipe.
"""

from irys_ti.kernels.bsdf import (
    conductor,
    dielectric,
    diffuse,
    droplets,
    hair,
    hg,
    isotropic,
    null,
    openpbr,
    roughconductor,
    roughdielectric,
    table,
)
from irys_ti.kernels.bsdf.registry import LAMBDAS, check, parameters
from irys_ti.kernels.bsdf.sample import Sample

BSDFS = {
    "conductor": conductor,
    "dielectric": dielectric,
    "diffuse": diffuse,
    "droplets": droplets,
    "hair": hair,
    "hg": hg,
    "isotropic": isotropic,
    "null": null,
    "openpbr": openpbr,
    "roughconductor": roughconductor,
    "roughdielectric": roughdielectric,
}
OF_MEDIA = {"table": table}  # phase functions that need what media alone have


def register(name: str, module) -> None:
    """Add a BSDF from outside the package; scenes may then name it as a material's kind.

    Raises SceneError, in one line, where ``module`` lacks something or its graphs have wrong shapes.
    """
    check(name, module, BSDFS)
    BSDFS[name] = module


_versions: dict = {}


def versions(kind: str, materials: list) -> list:
    """(name, module) for each material of one kind: (values, names of parameters whose gradient is asked for).

    A kind with ``variants`` offers smaller versions of itself, so that a scene pays for what it uses.
    """
    module = BSDFS[kind]
    if not hasattr(module, "variants"):
        return [(kind, module)] * len(materials)
    found = module.variants(materials)
    _versions.update(found)
    return found


def find(name: str):
    """The module of a kind, of a phase function, or of a version that ``versions`` has named."""
    return _versions[name] if name in _versions else OF_MEDIA[name] if name in OF_MEDIA else BSDFS[name]


__all__ = ["BSDFS", "LAMBDAS", "OF_MEDIA", "Sample", "find", "parameters", "register", "versions"]
