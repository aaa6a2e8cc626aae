"""The architecture holds: imports run one way, the domain is pure, no module is too long.

Read from the source's syntax trees, so a module that cannot be imported here is checked all the same.
"""

from __future__ import annotations

import ast
from collections import Counter
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
    "hub.io": {"hub.domain", "hub.api", "hub.userdirs"},
    "hub.providers": {"hub.domain"},
    "hub.messages": {"hub.api", "hub.domain", "hub.io", "hub.providers", "supervisors"},
    "hub.message_map": {"hub.messages", "supervisors"},
    "hub.actors": {
        "hub.api",
        "hub.domain",
        "hub.installed",
        "hub.io",
        "hub.providers",
        "hub.messages",
        "supervisors",
    },
    "hub.installed": set(),
    "hub.owners": set(),
    "hub.userdirs": set(),
    "hub.usage": {"hub.domain", "hub.io", "hub.providers"},
    "hub.web": {
        "hub.api",
        "hub.domain",
        "hub.installed",
        "hub.io",
        "hub.owners",
        "hub.providers",
        "hub.messages",
        "hub.message_map",
        "supervisors",
    },
    "hub.client": {"hub.api", "hub.domain", "hub.owners", "hub.userdirs"},
    "hub.tui": {"hub.client", "hub.api", "hub.domain"},
    "hub.wire": {"hub.domain"},
    "hub.mcp": {"hub.client", "hub.domain", "hub.wire"},
    "hub.acp": {"hub.client", "hub.api", "hub.domain", "hub.wire"},
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


@cache
def imports(name: str) -> list[tuple[str, int, bool]]:
    """What a module imports: the module meant, the line, and whether only a type checker does."""
    nodes = list(ast.walk(tree(name)))
    typing_only = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    found = []
    for node in nodes:
        hint = id(node) in typing_only
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, hint) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(name, node)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.append((whole if whole in MODULES else base, node.lineno, hint))
    return found


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


def modules_of(room: str) -> list[str]:
    return [name for name in MODULES if layer(name) == room]


def ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in ("hub", "supervisors")


def test_imports_follow_the_arrows():
    unknown = {layer(name) for name in MODULES} - ARROWS.keys() - COMPOSERS
    assert not unknown, "in no layer; say in ARROWS whom they may import"
    wrong = [
        f"{MODULES[name]}:{line} imports {what}"
        for name in MODULES
        if layer(name) not in COMPOSERS
        for what, line, _ in imports(name)
        if ours(what) and layer(what) not in allowed(layer(name))
    ]
    assert wrong == []


def allowed(here: str) -> set[str]:
    for_all = set() if here == "supervisors" else {"hub", "hub.errors"}
    return ARROWS[here] | {here} | for_all


def test_what_a_command_stands_on_knows_no_command():
    """What is shown on a terminal does not know where it comes from either."""
    rooms = ["hub.cli.terminal", "hub.cli.local", "hub.cli.commands"]
    wrong = [
        f"{MODULES[name]}:{line} imports {what}"
        for below, room in enumerate(rooms)
        for name in MODULES
        if name.startswith(f"{room}.")
        for what, line, _ in imports(name)
        if any(what.startswith(f"{above}.") for above in rooms[below + 1 :])
    ]
    assert wrong == []


def test_no_module_imports_itself_in_a_circle():
    """Nor for the type checker alone: who needs the other's type says what it needs of it."""
    graph = {
        name: {what for what, _, _ in imports(name) if what in MODULES and what != name} for name in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(reversed(error.args[1])))


def test_no_actor_imports_another():
    """Actors meet through messages. The parts of one actor, in a package of its own, may know one another."""
    wrong = [
        f"{MODULES[name]}:{line} imports {what}"
        for name in modules_of("hub.actors")
        for what, line, _ in imports(name)
        if is_actor(what) and actor_of(what) != actor_of(name)
    ]
    assert wrong == []


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


def test_the_domain_is_pure():
    """No Trio, no I/O, no clock, no random: time and ids come in as values."""
    wrong = [
        f"{MODULES[name]}:{line} imports {what}"
        for name in modules_of("hub.domain")
        for what, line, hint in imports(name)
        if not hint and what.split(".")[0] in DOMAIN_MAY_NOT
    ]
    wrong += [
        f"{MODULES[name]}:{node.lineno} {fault}"
        for name in modules_of("hub.domain")
        for node in ast.walk(tree(name))
        if (fault := impure(node))
    ]
    assert wrong == []


def impure(node: ast.AST) -> str:
    match node:
        case ast.AsyncFunctionDef() | ast.Await():
            return "is not sync"
        case ast.Call(func=ast.Name(id="open" | "print" | "input")):
            return "does I/O"
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            called = (ast.unparse(value).split(".")[-1], name)
            return "reads a clock or draws an id" if called in CLOCKS else ""
    return ""


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("async def f(): ...", "is not sync"),
        ("open('x')", "does I/O"),
        ("datetime.datetime.now()", "reads a clock or draws an id"),
        ("datetime.fromisoformat(text)", ""),
    ],
)
def test_the_check_of_purity_sees_what_is_not(source, fault):
    assert {impure(node) for node in ast.walk(ast.parse(source))} - {""} == ({fault} - {""})


def test_no_module_is_too_long():
    lines = {str(path): len(path.read_text().splitlines()) for path in MODULES.values()}
    assert {path: count for path, count in lines.items() if count > MAX_LINES} == {}, "more than one idea"


def test_a_public_class_has_a_name_of_its_own():
    """`RuleVerdict`, `ChainState`: where an idea is one of several of its kind, its name says which."""
    named = Counter(
        node.name
        for name in MODULES
        for node in tree(name).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name: count for name, count in named.items() if count > 1} == {}
