"""The tests of a module, and a program that runs them: `python -m tests.of hub/domain/retry.py`.

Owns: where the tests of a module are.
Must not: know a single module by name; what is no mirror stands at the module's own head.

Tests with real agent programs are left out unless `-m agents` asks for them. All processors work; `-n 0` is one, in order.

1. A file of its name in the mirrored place: `hub/domain/retry.py` -> `tests/hub/domain/test_retry.py`. An agent's files bear
   its name too: `hub/providers/claude/stream.py` -> `tests/hub/providers/claude/test_claude_stream.py`.
2. What its head names: `Tests: tests/hub/domain/test_brief.py`, with commas between several; else what its package's does.
3. Else the mirrored folder: `hub/tui/page.py` -> `tests/hub/tui`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "-n", "logical", "--dist=worksteal")
_NAMED = re.compile(r"^Tests: (\S+(?:, \S+)*)$", re.MULTILINE)


def named(module: Path) -> list[str]:
    """What the head of a module says."""
    found = _NAMED.search(ast.get_docstring(ast.parse(module.read_text())) or "")
    return found[1].split(", ") if found else []


def mirrored(module: Path) -> list[str]:
    """The test files of its name."""
    folder = module.relative_to(ROOT).parent
    name = folder.name if module.name == "__init__.py" else module.stem.strip("_")
    files = (f"tests/{folder}/test_{name}.py", f"tests/{folder}/test_{folder.name}_{name}.py")
    return [file for file in files if (ROOT / file).exists()]


def own_paths(module: Path) -> list[str]:
    """What is the module's own: a file of its name, or a line at its head."""
    return [*mirrored(module), *named(module)]


def paths_of(module: Path) -> list[str]:
    """Paths from the project's root, as pytest takes them; empty where there are none."""
    package = module.parent / "__init__.py"
    folder = f"tests/{module.parent.relative_to(ROOT)}"
    found = own_paths(module) or (named(package) if package.exists() else [])
    return found or ([folder] if (ROOT / folder).is_dir() else [])


if __name__ == "__main__":
    modules = [Path(word).resolve() for word in sys.argv[1:] if word.endswith(".py")]
    paths = sorted({test for module in modules for test in paths_of(module)})
    if not paths:
        sys.exit("Which module? python -m tests.of hub/domain/retry.py [options of pytest]")
    options = [word for word in sys.argv[1:] if not word.endswith(".py")]
    options += [] if "-m" in options else ["-m", "not agents and not bench"]
    sys.exit(subprocess.run([*PYTEST, *options, *paths], cwd=ROOT, check=False).returncode)
