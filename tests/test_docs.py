"""The README tells the truth: its code runs, and its table names every kind there is."""

import re
import shutil
from pathlib import Path

import numpy as np

import irys_ti as it
from irys_ti.kernels.bsdf import BSDFS
from irys_ti.kernels.light import LIGHTS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def block(word: str) -> str:
    """The code block that has a word in it."""
    return next(b for b in BLOCKS if word in b)


def test_ten_lines_run(data, f32, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "reference" / "gold_ball.xml", tmp_path)
    code = block("gold_ball.xml")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names: dict = {}
    exec(code, names)
    assert "+-" in capsys.readouterr().out
    assert it.parameters(names["scene"])["metal.alpha"] != 0.25
    assert names["image"].shape == (64, 64, 3) and names["image"].dtype == np.float32

    # Several views: the loop of the README, with two of them.
    scene, camera = names["scene"], names["scene"].camera
    paths = ["metal.alpha", "floor.reflectance"]
    names |= {"views": [(camera, names["target"]), (camera, 2 * names["target"])], "paths": paths}
    exec(block("views"), names)
    apart = [
        it.gradient(scene, it.L2(photo), params=paths, seeds=(2 * i, 2 * i + 1))[1]["floor.reflectance"]
        for i, (_, photo) in enumerate(names["views"])
    ]
    np.testing.assert_array_equal(names["total"]["floor.reflectance"], sum(apart))


def test_every_kind_is_in_the_table():
    table = README[README.index("## What is differentiable") : README.index("## What it costs")]
    own = [k for k, m in {**BSDFS, **LIGHTS}.items() if getattr(m, "__name__", "").startswith("irys_ti")]
    assert len(own) >= 12  # kinds that other tests have registered are not the README's
    missing = [kind for kind in own if f"`{kind}`" not in table]
    assert not missing


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"
    for named in re.findall(r"(?<![\w/.])(?:docs|examples)/[\w/]+\.\w+", README):
        assert (ROOT / named).exists(), f"README names {named}"


def test_ci_runs_the_readme_command():
    """.ci/run takes the line from the README, so there has to be exactly one."""
    assert len([line for line in README.splitlines() if "pytest -q" in line]) == 1
    assert "grep -m1 'pytest -q' README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
