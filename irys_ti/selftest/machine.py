"""What the self-test ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

from .. import __version__, runtime


def backends(archs=None) -> list[tuple[str, str]]:
    """(arch, precision) of every backend to test: those asked for, else all of this machine, and f64.

    Software Vulkan, on a machine without a GPU, is left out unless VK_DRIVER_FILES chose it.
    """
    there = runtime.available_archs()
    if archs:
        for arch in archs:
            if arch not in there:
                raise ValueError(f"arch {arch!r} is not available here; this machine has: {', '.join(there)}")
    elif runtime.best_arch() == "cpu" and not os.environ.get("VK_DRIVER_FILES"):
        archs = ["cpu"]
    out = [(arch, "f32") for arch in archs or there]
    return out + [("cpu", "f64")] if ("cpu", "f32") in out else out


def facts() -> dict:
    """Machine, processors and versions."""
    packages = {}
    for name in ("taichi", "numpy"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "unknown"
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": _cpu(),
        "cpu_cores": os.cpu_count(),
        "gpus": _gpus(),
        "vk_driver_files": os.environ.get("VK_DRIVER_FILES"),
        "versions": {"irys_ti": __version__, **packages, "python": platform.python_version()},
    }


def _cpu() -> str:
    if sys.platform.startswith("linux"):
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as lines:
                names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
            if names:
                return names[0]
        except OSError:
            pass
    if sys.platform == "darwin":
        return _output(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.processor()
    return platform.processor() or platform.machine()


def _gpus() -> list[str]:
    """Names of GPUs, as far as a command of the system tells them."""
    if sys.platform == "darwin":
        text = _output(["system_profiler", "SPDisplaysDataType"])
        return [line.split(":", 1)[1].strip() for line in text.splitlines() if "Chipset Model" in line]
    text = _output(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    return [line.strip() for line in text.splitlines() if line.strip()]


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
