"""python -m benchmarks NAME [...]: run one of the programs of this folder; without a name, list them."""

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def programs() -> dict[str, str]:
    """Each program's name and the first line of what it says of itself."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        text = path.read_text()
        if "__main__" in text and path.stem != "__main__":
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return found


def main() -> int:
    found = programs()
    if len(sys.argv) < 2 or sys.argv[1] not in found:
        for name, text in found.items():
            print(f"{name:18s} {text}")
        return 0 if len(sys.argv) < 2 else 2
    sys.argv = [f"benchmarks.{sys.argv[1]}", *sys.argv[2:]]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
