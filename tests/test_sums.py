"""Exact sums: whatever is added, in whatever order, is what Python's integers say."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from irys_ti import runtime
from irys_ti.device.replay import check_faults
from irys_ti.device.sums import exact_totals
from irys_ti.kernels.accumulate import FAULTS, HEAD, LIMIT, NOT_FINITE, TOO_LARGE, WORDS, differences
from irys_ti.selftest.sums import add, expected, faults, integers, random_numbers, totals

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture], "max_examples": 60}
DEPOSITS = st.lists(st.floats(-(2.0**55), 2.0**55, width=32), min_size=1, max_size=40)


def check(numbers, n, replicas, launches, seed):
    words = add(numbers, n, replicas, np.random.default_rng(seed).permutation(len(numbers)), launches)
    want = expected(numbers, n)
    assert integers(words, n) == want
    assert totals(words, n, replicas).tolist() == [float(x) for x in want]
    assert not words[TOO_LARGE] and not words[NOT_FINITE]


@pytest.mark.parametrize("tier", ["f32", "f64"])
@given(numbers=DEPOSITS, n=st.integers(1, 4), replicas=st.integers(1, 5), launches=st.integers(1, 3), seed=st.integers(0, 99))
@example(numbers=[0.5, -0.5, 1.5, 2.5, 0.49999997, -0.0], n=1, replicas=1, launches=1, seed=0)
@example(numbers=[2.0**55, 2.0**55 - 2.0**31, 4294967295.0, 4294967296.0, 65535.5, 1.0], n=1, replicas=2, launches=2, seed=0)
@example(numbers=[2.0**32] * 3 + [-(2.0**32)] * 3, n=1, replicas=1, launches=1, seed=0)
@settings(**COMMON)
def test_any_numbers_in_any_order(tier, numbers, n, replicas, launches, seed, request):
    request.getfixturevalue(tier)
    check(numbers, n, replicas, launches, seed)


@pytest.mark.parametrize("tier", ["f32", "f64"])
def test_many_threads_on_one_accumulator(tier, request):
    """Every carry is seen, though thousands of additions meet in the same words."""
    request.getfixturevalue(tier)
    numbers = random_numbers(50000, 7)
    for replicas in (1, 3):
        check(numbers, 1, replicas, 1, 0)


def test_the_third_word(f32):
    """2^10 deposits just below the limit carry beyond 64 bits."""
    numbers = np.full(1 << 10, 2.0**56 - 2.0**32)
    words = add(numbers)
    assert integers(words, 1) == expected(numbers) == [(2**56 - 2**32) << 10]
    assert words[FAULTS + 2] > 0


def test_f32_and_f64_add_the_same(request):
    """Numbers that both tiers hold make the same words."""
    numbers = random_numbers(2000, 3).astype(np.float32)
    words = []
    for tier in ("f32", "f64"):
        runtime.init("cpu", tier)
        words.append(add(numbers, 5, 2))
    np.testing.assert_array_equal(*words)


@pytest.mark.parametrize("tier", ["f32", "f64"])
def test_what_does_not_fit_is_counted(tier, request):
    request.getfixturevalue(tier)
    assert faults([1.0, -1.0, 2.0**55]) == (0, 0)
    assert faults([LIMIT, -LIMIT, 3e38]) == (3, 0)
    assert faults([np.nan, np.inf, -np.inf]) == (0, 3)
    words = add([np.nan, LIMIT, 3.0])
    assert integers(words, 1) == [3]  # and is not added
    with pytest.raises(ArithmeticError, match="1 gradient deposits were too large.*1 were not finite"):
        check_faults(words)
    check_faults(add([3.0]))


@given(
    rows=st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=WORDS, max_size=WORDS), min_size=1, max_size=12),
    groups=st.integers(1, 3),
)
@settings(deadline=None)
def test_totals_of_any_words(rows, groups):
    """The host's sum over replicas and its one rounding, against Python's integers, group by group."""
    words = np.array(rows * groups, np.uint32)
    found = exact_totals(words.reshape(-1), len(rows) * groups, 1, groups)
    want = sum((a - d) + ((b - e) << 32) + ((c - f) << 64) for a, b, c, d, e, f in rows)
    assert [x.tolist() for x in found] == [[float(want)]] * groups


def test_cancellation_loses_nothing():
    """2^90 + 1 - 2^90 is 1: nothing is rounded before the end."""
    words = np.array([[1, 0, 1 << 26, 0, 0, 1 << 26]], np.uint32)
    assert exact_totals(words.reshape(-1), 1, 1, 1)[0].tolist() == [1.0]


@pytest.mark.vulkan
def test_vulkan():
    runtime.init("vulkan", "f32")
    for replicas in (1, 3):
        check(random_numbers(5000, 7), 2, replicas, 2, 0)
    assert faults([LIMIT, np.nan, np.inf, 1.0]) == (1, 2)


@pytest.mark.parametrize("tier", ["f32", "f64"])
def test_differences_on_the_device(tier, request):
    """What the host reads of a texture's accumulators: the same totals, and a count of those that outgrow 64 bits."""
    request.getfixturevalue(tier)
    rng = np.random.default_rng(5)
    words = rng.integers(0, 2**32, (4000, WORDS), dtype=np.uint32)
    words[:, [2, 5]] = words[:1, [2]]  # the third words cancel
    words[:1000, [1, 4]] = rng.integers(0, 3, (1000, 2))
    words[1000:2000, 3:] = words[1000:2000, :3] + rng.integers(0, 2, (1000, 3)).astype(np.uint32)
    words[2000:2010] = 0
    want = exact_totals(words.reshape(-1), 1, len(words), 1)[0]
    fits = np.abs(want) < 2.0**62
    out = runtime.zeros(HEAD + 2 * len(words), np.uint32)
    differences(runtime.array(np.r_[np.uint32([7, 8, 9]), words.reshape(-1)]), out, len(words))
    found = out.to_numpy()[: HEAD + 2 * len(words)]
    assert found[1:HEAD].tolist() == [7, 8, 9]
    totals = found[HEAD:].view("<i8").astype(np.float64)
    np.testing.assert_array_equal(totals[fits], want[fits])
    assert fits.sum() > 1500 and 0 < found[0] <= (~fits).sum()
