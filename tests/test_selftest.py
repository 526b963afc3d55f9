"""``irys-ti selftest``: its proofs hold here, fail where they must, and their figures reach the file."""

import json

import numpy as np
import pytest

from irys_ti import cli, selftest
from irys_ti.selftest import machine, proofs, sums
from irys_ti.selftest.features import FEATURES


def test_command_writes_figures(f32, tmp_path, capsys):
    file = tmp_path / "figures.json"
    command = ["selftest", "--quick", "--arch", "cpu", "--only", "exact sums", "-o", str(file)]
    assert cli.main(command) == 0
    assert "every proof held" in capsys.readouterr().out
    found = json.loads(file.read_text())
    assert found["ok"] and found["quick"] and set(found["versions"]) == {"irys_ti", "taichi", "numpy", "python"}
    assert found["date"].startswith("20") and found["cpu"] and found["system"]
    assert [(b["arch"], b["precision"], b["ok"]) for b in found["backends"]] == [("cpu", "f32", True), ("cpu", "f64", True)]
    (proof,) = found["backends"][0]["proofs"]
    assert proof["name"] == "exact sums" and proof["figures"]["right"] == proof["figures"]["ways"] == 6


def test_bad_arguments(f32, tmp_path, capsys):
    assert cli.main(["selftest", "--only", "magic", "-o", str(tmp_path / "x.json")]) == 2
    assert "no proof named 'magic'; there are: replay" in capsys.readouterr().err
    assert cli.main(["selftest", "-o", str(tmp_path / "no" / "x.json")]) == 2
    missing = next(a for a in ("metal", "cuda") if a not in machine.runtime.available_archs())
    assert cli.main(["selftest", "--arch", missing, "-o", str(tmp_path / "x.json")]) == 2
    assert f"arch '{missing}' is not available here; this machine has:" in capsys.readouterr().err


def test_software_vulkan_is_asked_for_by_name(monkeypatch):
    monkeypatch.setattr(machine.runtime, "available_archs", lambda: ["vulkan", "cpu"])
    monkeypatch.setattr(machine.runtime, "best_arch", lambda: "cpu")
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    assert machine.backends() == [("cpu", "f32"), ("cpu", "f64")]
    assert machine.backends(["vulkan"]) == [("vulkan", "f32")]
    monkeypatch.setenv("VK_DRIVER_FILES", "some.json")
    assert machine.backends() == [("vulkan", "f32"), ("cpu", "f32"), ("cpu", "f64")]


def test_a_backend_that_dies_is_a_failure(monkeypatch):
    monkeypatch.setattr(selftest, "backends", lambda archs: [("cpu", "f32")])
    monkeypatch.setattr(selftest.Process, "call", lambda self, *args, **more: (_ for _ in ()).throw(RuntimeError("it died")))
    (backend,) = selftest.selftest(only=["replay"])
    assert not backend.ok and backend.proofs[0].text == "it died"


def test_an_error_is_a_failure(f32, monkeypatch):
    monkeypatch.setitem(proofs.PROOFS, "colour of a flat spectrum", lambda quick: 1 / 0)
    told = []
    proofs.run(True, ["colour of a flat spectrum"], told.append)
    assert [p.ok for p in told] == [False] and "ZeroDivisionError" in told[0].text
    assert "1 / 0" in told[0].figures["traceback"]


def test_z_tests_have_power():
    """An unbiased estimate passes; one that is 2 % off, or too noisy to tell, does not."""
    rng = np.random.default_rng(0)
    noise = {seed: rng.normal() for seed in proofs.SEEDS}

    def passes(mean, spread):
        return proofs.z_test(lambda seed: mean + spread * noise[seed], 3.0)[0]

    assert passes(3.0, 0.01) and passes(3.001, 0.01)
    assert not passes(3.06, 0.01) and not passes(2.94, 0.01)
    assert not passes(3.0, 0.1)


def test_proofs_fail_where_they_must(f32, monkeypatch):
    broken = {
        "exact sums": ("add", sums, lambda words: words ^ (np.arange(len(words)) == 5)),
        "same bits": ("fingerprint", proofs, lambda text: text + str(rng.integers(1000))),
        "replay": ("gradients", proofs, lambda pair: (pair[0], (pair[1][0] - 1, pair[1][1]))),
        "own value": ("render", proofs, lambda image: image + rng.random(image.shape)),
        "colour of a flat spectrum": ("render", proofs, lambda image: 1.002 * image),
    }
    rng = np.random.default_rng(0)
    for name, (function, module, spoil) in broken.items():
        right = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *a, f=right, s=spoil, **k: s(f(*a, **k)))
        ok, text, _ = proofs.PROOFS[name](True)
        assert not ok, f"{name}: {text}"
        monkeypatch.setattr(module, function, right)


@pytest.mark.parametrize("name", [n for n in proofs.PROOFS if n != "f64 on equal paths" and n not in FEATURES])
def test_proofs_hold(f32, name):
    ok, text, _ = proofs.PROOFS[name](True)
    assert ok, text


@pytest.mark.vulkan
def test_everything_on_vulkan():
    """All proofs, on whatever Vulkan driver there is; minutes on a software one."""
    (backend,) = selftest.selftest(["vulkan"], quick=True)
    assert backend.ok, [p.text for p in backend.proofs if not p.ok]
    assert {p.name for p in backend.proofs} == set(proofs.PROOFS) - set(FEATURES)


@pytest.mark.slow
def test_everything_on_the_cpu():
    backends = selftest.selftest(["cpu"])
    assert all(b.ok for b in backends), [p.text for b in backends for p in b.proofs if not p.ok]
    assert backends[0].proofs[-1].name == selftest.THREADS
