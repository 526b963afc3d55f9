"""The only caller of ``ti.init`` and the only importer of Taichi: backend, precision, device facts."""

from __future__ import annotations

import contextlib
import gc
import glob
import io
import os
import sys
import warnings
import weakref

os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")

import numpy as np  # noqa: E402
import taichi as ti  # noqa: E402

# Graphs are lowered by plain Python functions called inside kernels (graph/lower.py), which is
# what Taichi warns about.
warnings.filterwarnings("ignore", message=".*Calling non-taichi function.*")
ti.set_logging_level(ti.ERROR)



def _shorten_positions() -> None:
    """Keep Taichi from wrapping a copy of the source text for every node: half of the walk's time.

    The text only decorates messages of compile errors; file and line remain.
    """
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    def get_pos_info(self, node):
        name = self.func.func.__name__
        return f'File "{self.file}", line {node.lineno + self.lineno_offset}, in {name}:\n'

    ASTTransformerContext.get_pos_info = get_pos_info


def _read_sources_once() -> None:
    """Keep Taichi from finding a function's source text anew for every call that it inlines: thousands in a large kernel."""
    import functools

    from taichi.lang import kernel_impl

    kernel_impl.getsourcelines = functools.lru_cache(maxsize=None)(kernel_impl.getsourcelines)
    kernel_impl.getsourcefile = functools.lru_cache(maxsize=None)(kernel_impl.getsourcefile)


_shorten_positions()
_read_sources_once()

ARCHS = ("cpu", "cuda", "vulkan", "metal")
GPU_ARCHS = ("cuda", "metal", "vulkan")


class State:
    """What the running program was initialised with; ``arch`` is None before ``init``."""

    arch: str | None = None
    precision: str = "f32"
    threads: int | None = None


state = State()
# Objects that own device arrays; they are emptied before a second ti.init, since arrays that
# outlive one are silently corrupted.
_owners: weakref.WeakSet = weakref.WeakSet()


def available_archs() -> list[str]:
    """Names of the backends that Taichi can start on this machine, fastest first, always with ``cpu``."""
    from taichi._lib import core

    probes = {"cuda": core.with_cuda, "vulkan": core.with_vulkan, "metal": core.with_metal}
    found = [name for name in GPU_ARCHS if probes[name]()]
    return [*found, "cpu"]


def best_arch() -> str:
    """The backend that "auto" takes: a real GPU's, else the CPU.

    A machine without a GPU may still have software Vulkan, which is slow and, in some versions, wrong; so on
    Linux Vulkan counts only where the kernel shows a graphics device.
    """
    there = available_archs()
    for name in there:
        if name == "vulkan" and sys.platform.startswith("linux"):
            if not (glob.glob("/dev/dri/renderD*") or glob.glob("/dev/nvidia[0-9]*")):
                continue
        return name
    return "cpu"


def init(arch: str = "auto", precision: str = "f32", threads: int | None = None) -> str:
    """Start (or restart) Taichi and return the backend's name.

    arch: "auto" (first GPU backend that is there, else the CPU), "cpu", "cuda", "vulkan" or "metal".
    precision: "f32" everywhere, or "f64" (the reference tier, on the CPU only).
    threads: CPU threads; None takes every core.
    Raises ValueError where the backend is not there, naming those that are.
    """
    if precision not in ("f32", "f64"):
        raise ValueError(f"precision {precision!r} is not one of 'f32', 'f64'")
    there = available_archs()
    if arch == "auto":
        arch = "cpu" if precision == "f64" else best_arch()
    if arch not in ARCHS:
        raise ValueError(f"arch {arch!r} is not one of {', '.join(('auto', *ARCHS))}")
    if arch not in there:
        raise ValueError(f"arch {arch!r} is not available here; this machine has: {', '.join(there)}")
    if precision == "f64" and arch != "cpu":
        raise ValueError(f"precision 'f64' runs on arch 'cpu' only, not on {arch!r}: Vulkan and Metal lack it")
    if threads is not None and threads < 1:
        raise ValueError(f"threads {threads} must be at least 1")
    wanted = (arch, precision, threads)
    if state.arch is not None and wanted == (state.arch, state.precision, state.threads):
        return arch
    release_all()
    options = {"cpu_max_num_threads": threads} if threads else {}
    if arch == "cuda":
        # Caps a thread at 255 / 2 registers: a tenth to a fifth faster than 128 threads a block on an H200.
        options["default_gpu_block_dim"] = 256
    with contextlib.redirect_stdout(io.StringIO()):  # Taichi announces itself
        ti.init(
            arch=getattr(ti, arch),
            default_fp=ti.f64 if precision == "f64" else ti.f32,
            default_ip=ti.i32,
            fast_math=False,
            # Taichi's own data-flow pass is quadratic and took four fifths of the compile time of a path
            # kernel; LLVM and the drivers do its work again (docs/design/compile_time.md).
            cfg_optimization=False,
            log_level=ti.ERROR,
            offline_cache=True,
            **options,
        )
    state.arch, state.precision, state.threads = wanted
    return arch


def ensure() -> None:
    """Start Taichi with the defaults unless it runs already."""
    if state.arch is None:
        init()


def own(owner) -> None:
    """Register an object whose ``release()`` drops device arrays before Taichi restarts."""
    _owners.add(owner)


def release_all() -> None:
    """Drop every device array that is still alive."""
    for owner in list(_owners):
        owner.release()
    _owners.clear()
    gc.collect()


def is_gpu() -> bool:
    """True where kernels run on a GPU backend."""
    return state.arch in GPU_ARCHS


def real_dtype():
    """NumPy dtype of the device's real numbers."""
    return np.float64 if state.precision == "f64" else np.float32


def array(values, dtype=None):
    """A flat Taichi ndarray holding ``values``: reals in the tier's precision, i32 or u32 for integers."""
    ensure()
    values = np.ascontiguousarray(values).reshape(-1)
    if dtype is None:
        kind = values.dtype.kind
        dtype = {"u": np.uint32, "i": np.int32, "b": np.int32}.get(kind, real_dtype())
    values = values.astype(dtype, copy=False)
    if not values.size:
        return zeros(1, dtype)
    out = _empty(values.size, dtype)
    out.from_numpy(values)
    return out


def zeros(n: int, dtype=None):
    """A flat Taichi ndarray of n zeros; ``dtype`` as NumPy names it, default the tier's real."""
    ensure()
    out = _empty(max(1, int(n)), dtype or real_dtype())
    out.fill(0)
    return out


def _empty(n: int, dtype):
    """A flat Taichi ndarray of n numbers, whatever they are."""
    names = {"float32": ti.f32, "float64": ti.f64, "int32": ti.i32, "uint32": ti.u32}
    return ti.ndarray(names[np.dtype(dtype).name], shape=(n,))
