"""Who may import whom: imports go downward only (design, section 3), and Taichi comes through one module."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "irys_ti"

# From the bottom up; a file may import from its own layer and from those below. The first match counts.
LAYERS = [
    {"errors", "interrupt", "runtime", "data"},
    {"scene"},
    {"graph"},
    {"spectral"},
    {"io"},
    {"controls"},
    {"kernels.layout", "kernels.frame", "kernels.rng", "kernels.config"},
    {"kernels.bsdf", "kernels.light", "kernels.medium", "kernels.geometry"},
    {"kernels"},
    {"device"},
    {"optim"},
    {"api"},
    {"cad", "kinematics"},
    {"tiers", "wire", "process", "reference", "_worker"},
    {"fitting", "large_steps", "passes"},
    {"check", "material_sheet", "selftest"},
    {"preview"},
    {"demos"},
    {"cli"},
]
SIBLINGS = ["kernels.bsdf", "kernels.light", "kernels.medium", "kernels.geometry"]  # never import each other
TAICHI_IMPORTERS = {"runtime", "graph.lowering", "graph.literals"}
# Names that the package's front door loads on first use, from any layer.
LAZY = {"__init__"}


def module_name(path: Path) -> str:
    """"kernels.bsdf.diffuse" of a file; a package is named by its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports_of(path: Path, package: str = "irys_ti"):
    """(module, line) of everything a file imports, ours without the package's name and others as "!name"."""
    here = [package, *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base += node.module.split(".") if node.module else []
            names = [".".join(base)] + [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            ours = name == package or name.startswith(package + ".")
            yield (name[len(package) + 1 :] if ours else "!" + name), node.lineno


def layer(name: str) -> int | None:
    """Number of the layer of a module or of something in it."""
    for i, members in enumerate(LAYERS):
        if any(name == m or name.startswith(m + ".") for m in members):
            return i
    return None


def within(name: str, folder: str) -> bool:
    return name == folder or name.startswith(folder + ".")


FILES = sorted(p for p in ROOT.rglob("*.py") if module_name(p) not in LAZY)


def violations(path: Path) -> list[str]:
    """Everything that a file imports and must not."""
    name = module_name(path)
    mine, wrong = layer(name), []
    for imported, line in imports_of(path):
        if imported.startswith("!"):
            if within(imported[1:], "taichi") and name not in TAICHI_IMPORTERS:
                wrong.append(f"{path.name}:{line} imports taichi; use `from irys_ti.runtime import ti`")
            continue
        theirs = layer(imported)
        if theirs is not None and theirs > mine:
            wrong.append(f"{path.name}:{line} imports {imported}, which lies above it")
        for sibling in SIBLINGS:
            if within(imported, sibling) and not within(name, sibling) and any(within(name, s) for s in SIBLINGS):
                wrong.append(f"{path.name}:{line} imports {imported}, its sibling")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_go_downward(path):
    assert layer(module_name(path)) is not None, f"{module_name(path)} has no place in LAYERS"
    assert not violations(path)


@pytest.mark.parametrize(
    ("where", "text", "word"),
    [
        ("scene/bad.py", "from irys_ti.io import load", "above"),
        ("spectral/bad.py", "def f():\n    from ..io.images import read_image", "above"),
        ("graph/bad.py", "from .. import api", "above"),
        ("kernels/bsdf/bad.py", "from ..light import point", "sibling"),
        ("kernels/bsdf/bad.py", "from irys_ti.kernels import geometry", "sibling"),
        ("kernels/light/bad.py", "from irys_ti.kernels.path import trace_paths", "above"),
        ("device/bad.py", "import taichi as ti", "taichi"),
        ("kernels/bad.py", "from taichi.lang import impl", "taichi"),
    ],
)
def test_the_rules_are_enforced(tmp_path, monkeypatch, where, text, word):
    """A file that breaks a rule is found."""
    bad = tmp_path / "irys_ti" / where
    bad.parent.mkdir(parents=True)
    bad.write_text(text)
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path / "irys_ti")
    assert [w for w in violations(bad) if word in w]


def test_neighbours_are_allowed(tmp_path, monkeypatch):
    good = tmp_path / "irys_ti" / "kernels" / "light" / "good.py"
    good.parent.mkdir(parents=True)
    good.write_text("from . import point\nfrom irys_ti.kernels.layout import H_LIGHTS\nfrom irys_ti.runtime import ti\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path / "irys_ti")
    assert not violations(good)
