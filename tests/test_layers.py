"""The architecture holds: imports run one way, the domain is pure, every module says what it owns.

Read from the source's syntax trees, so a module that cannot be imported here is checked all the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAX_LINES = 400

ARROWS: dict[str, set[str]] = {
    # who -> whom it may import, besides itself
    "hub": set(),
    "hub.errors": set(),
    "hub.domain": set(),
    "hub.api": {"hub.domain"},
    "hub.io": {"hub.domain", "hub.api"},
    "hub.providers": {"hub.domain"},
    "hub.messages": {"hub.api", "hub.domain", "hub.io", "hub.providers", "supervisors"},
    "hub.message_map": {"hub.messages", "supervisors"},
    "hub.actors": {
        "hub.api",
        "hub.domain",
        "hub.io",
        "hub.providers",
        "hub.messages",
        "supervisors",
    },
    "hub.owners": set(),
    "hub.usage": {"hub.domain", "hub.io", "hub.providers"},
    "hub.web": {
        "hub.api",
        "hub.domain",
        "hub.io",
        "hub.owners",
        "hub.providers",
        "hub.messages",
        "hub.message_map",
        "supervisors",
    },
    "hub.client": {"hub.owners"},
    "hub.tui": {"hub.client", "hub.api", "hub.domain"},
    "hub.wire": set(),
    "hub.mcp": {"hub.client", "hub.wire"},
    "hub.acp": {"hub.client", "hub.domain", "hub.wire"},
    "supervisors": set(),
}
"""The layers. `hub.errors` and the version in `hub` may be imported by all of hub."""
COMPOSERS = {
    "hub.app",
    "hub.daemon",
    "hub.__main__",
    "hub.cli",
    "hub.evals",
}
"""Those on top, who may know everybody."""
SUPERVISORS_MAY = {"trio", "attrs", "outcome"}
DOMAIN_MAY_NOT = {
    "trio",
    "os",
    "time",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "asyncio",
    "io",
    "pathlib",
    "shutil",
}
CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("uuid", "uuid4"),
    ("uuid", "uuid1"),
}


def modules() -> Iterator[tuple[str, Path]]:
    for package in ("hub", "supervisors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(), str(MODULES[name]))


def imports(name: str) -> Iterator[tuple[str, int, bool]]:
    """What a module imports: the module meant, the line, and whether only a type checker does."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree(name))
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree(name)):
        hint = id(node) in typing_only
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, hint) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(name, node)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in MODULES else base, node.lineno, hint


def _absolute(name: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def layer(name: str) -> str:
    if name.startswith("supervisors"):
        return "supervisors"
    return ".".join(name.split(".")[:2])


def every_module(within: str = "") -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in MODULES if not within or layer(name) == within])


def ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in ("hub", "supervisors")


@every_module()
def test_imports_follow_the_arrows(name):
    here = layer(name)
    if here in COMPOSERS:
        return
    assert here in ARROWS, f"{name} is in no layer; say in ARROWS whom it may import"
    allowed = ARROWS[here] | {here}
    if here != "supervisors":
        allowed |= {"hub", "hub.errors"}
    wrong = [
        f"{MODULES[name]}:{line} imports {what}"
        for what, line, _ in imports(name)
        if ours(what) and layer(what) not in allowed
    ]
    assert wrong == []


def test_no_module_imports_itself_in_a_circle():
    graph = {
        name: {what for what, _, hint in imports(name) if what in MODULES and what != name and not hint}
        for name in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(reversed(error.args[1])))


@every_module("hub.actors")
def test_no_actor_imports_another(name):
    """Actors meet through messages. The parts of one actor, in a package of its own, may know one another."""
    own = actor_of(name)
    others = {what for what, _, _ in imports(name) if is_actor(what) and actor_of(what) != own}
    assert others == set()


def actor_of(name: str) -> str:
    """The register asks a session's own questions before there is a session: the two are one family."""
    own = ".".join(name.split(".")[:3])
    return "hub.actors.session" if own == "hub.actors.sessions" else own


@cache
def is_actor(name: str) -> bool:
    """Whether a module of hub.actors defines an actor, or is a part of a package that does."""
    if layer(name) != "hub.actors" or name == "hub.actors":
        return False
    family = [other for other in MODULES if actor_of(other) == actor_of(name)]
    return any(_defines_actor(other) for other in family)


def _defines_actor(name: str) -> bool:
    classes = (node for node in ast.walk(tree(name)) if isinstance(node, ast.ClassDef))
    return any(
        ast.unparse(base).split("[", 1)[0].split(".")[-1] == "Actor"
        for node in classes
        for base in node.bases
    )


def test_the_check_of_actors_sees_the_actors():
    """Were the way to define an actor to change, the test above would pass for nothing."""
    actors = {actor_of(name) for name in MODULES if is_actor(name)}
    assert {"hub.actors.session", "hub.actors.audit", "hub.actors.events"} <= actors


@every_module("supervisors")
def test_supervisors_know_three_libraries(name):
    import sys

    foreign = {what.split(".")[0] for what, _, _ in imports(name)} - sys.stdlib_module_names - {"supervisors"}
    assert foreign <= SUPERVISORS_MAY


@every_module("hub.domain")
def test_the_domain_is_pure(name):
    """No Trio, no I/O, no clock, no random: time and ids come in as values."""
    assert {what.split(".")[0] for what, _, hint in imports(name) if not hint} & DOMAIN_MAY_NOT == set()
    for node in ast.walk(tree(name)):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), (
            f"{MODULES[name]}:{node.lineno} is not sync"
        )
        if isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in ("open", "print", "input")), (
                node.lineno
            )
            if isinstance(node.func, ast.Attribute):
                called = (ast.unparse(node.func.value).split(".")[-1], node.func.attr)
                assert called not in CLOCKS, f"{MODULES[name]}:{node.lineno} reads a clock or draws an id"


@every_module()
def test_every_module_says_what_it_owns(name):
    text = ast.get_docstring(tree(name)) or ""
    assert text, f"{MODULES[name]} has no docstring"
    assert "Owns" in text or MODULES[name].name == "__init__.py", f"{MODULES[name]} does not say what it owns"


@every_module()
def test_no_module_is_too_long(name):
    lines = len(MODULES[name].read_text().splitlines())
    assert lines <= MAX_LINES, f"{MODULES[name]} has {lines} lines: it has more than one idea"
