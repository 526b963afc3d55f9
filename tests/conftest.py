"""Shared fixtures: Taichi in the two CPU tiers, the acceptance data where it is present."""

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: a change is judged by what it does. Drop the profile to search for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture
def f64():
    """The reference tier: f64 on the CPU."""
    from irys_ti import runtime

    runtime.init("cpu", "f64")


@pytest.fixture
def f32():
    """The fast tier on the CPU."""
    from irys_ti import runtime

    runtime.init("cpu", "f32")


@pytest.fixture(scope="session")
def data() -> Path:
    """The shared test data; tests that need it skip, saying so, where it is absent."""
    if not DATA.is_dir():
        pytest.skip("../shared/data is not beside this checkout")
    return DATA


def pytest_collection_modifyitems(items):
    """Tests of one tier run together: each change of tier restarts Taichi and compiles its kernels again."""

    def tier(item):
        asked = getattr(item, "callspec", None)
        names = {*item.fixturenames, asked.params.get("tier", "") if asked else ""}
        return 2 if "f64" in names else 1 if "f32" in names else 0

    items.sort(key=tier)
