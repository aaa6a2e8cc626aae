"""Which file an import means.

Owns: each language's rule from a name to a path, where a path alone settles it, and what a module is called that is
not of the project.
Must not: look at the disk. `SourceFiles` says which files there are.

A rule that would have to guess says nothing: search paths, aliases of a bundler and build files are not read, but for
the name that a `go.mod` gives its folder.

Tests: tests/hub/domain/code/test_imports.py
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import attrs

MAX_TARGETS = 50
"""Files of one Go package that an import leads to, at most."""
_SCRIPTS = ("ts", "tsx", "d.ts", "mts", "cts", "js", "jsx", "mjs", "cjs")
_ROOTS = {"lib.rs", "main.rs"}
_OWN_CRATE = {"crate", "self", "super"}
_REST = {
    "python": re.compile("[.:]"),
    "rust": re.compile("::"),
    "javascript": re.compile("/"),
    "typescript": re.compile("/"),
    "ruby": re.compile("/"),
}
"""What comes after the name of a package."""


@attrs.frozen
class SourceFiles:
    """The source files there are, as the rules ask for them; made by `project`."""

    files: frozenset[str]
    named: Mapping[str, tuple[str, ...]]
    """Java's files by their last part."""
    packages: Mapping[str, tuple[str, ...]]
    """Go's files that are no tests, by their folder."""
    go_modules: Mapping[str, str]
    """The name that `go.mod` gives to each folder that has one."""
    modules: Mapping[str, str]
    """Python's files by the path that a dotted name leads to: `a/b` of `a/b.py`, `a/b/__init__.py` or `a/b.pyi`."""
    settled: dict[tuple[str, str, str], tuple[str, ...]] = attrs.field(factory=dict, eq=False, repr=False)
    """What was resolved before, by language, place and name: the files of a folder mostly import the same."""


def project(files: Iterable[str], go_modules: Mapping[str, str]) -> SourceFiles:
    """What is to be known of these paths, relative with slashes."""
    all_ = frozenset(files)
    named: dict[str, list[str]] = {}
    packages: dict[str, list[str]] = {}
    for path in sorted(all_):
        folder, name = posixpath.split(path)
        if name.endswith(".java"):
            named.setdefault(name, []).append(path)
        elif name.endswith(".go") and not name.endswith("_test.go"):
            packages.setdefault(folder, []).append(path)
    return SourceFiles(
        all_,
        {name: tuple(found) for name, found in named.items()},
        {name: tuple(found[:MAX_TARGETS]) for name, found in packages.items()},
        go_modules,
        _modules(all_),
    )


def _modules(files: Collection[str]) -> dict[str, str]:
    """The first that Python would take: a module before a package, and both before a stub."""
    found = {path.removesuffix(".pyi"): path for path in files if path.endswith(".pyi")}
    found |= {posixpath.dirname(path): path for path in files if posixpath.basename(path) == "__init__.py"}
    return found | {path.removesuffix(".py"): path for path in files if path.endswith(".py")}


def resolve(language: str, path: str, name: str, there: SourceFiles) -> tuple[str, ...]:
    """The project's files that an import means; none where it is of another project, or not settled.

    Args:
        language: As `language_of` calls it.
        path: The file that imports.
        name: As `imports` tells it.
        there: The files there are.
    """
    # Rust's names hang on the file, all others on its folder at most.
    place = path if language == "rust" else path.rpartition("/")[0]
    key = (language, place, name)
    found = there.settled.get(key)
    if found is None:
        found = there.settled[key] = _RULES[language](path, name, there)
    return tuple(each for each in found if each != path) if path in found else found


def outside_name(language: str, name: str) -> str:
    """What the module is called that an import means when it is none of the project's; "" where it must be one."""
    if name.startswith(".") or name.partition("::")[0] in _OWN_CRATE:
        return ""
    if language == "java":
        return name.rpartition(".")[0]
    if language == "go":
        return name
    if name.startswith("@"):
        return "/".join(name.split("/")[:2])
    return _REST[language].split(name, 1)[0]


def _first(there: SourceFiles, *paths: str) -> tuple[str, ...]:
    return next(((path,) for path in paths if path in there.files), ())


def _join(*parts: str) -> str:
    """A path relative to the project; one that leads out of it is no file's."""
    return posixpath.normpath(posixpath.join(*parts))


def _below(folder: str, name: str) -> str:
    """As `_join`, for a name that leads nowhere else; a fifth of the time."""
    return f"{folder}/{name}" if folder else name


def _above(path: str) -> Iterator[str]:
    """The folders a file lies in, the nearest first; "" is the last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _python(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:
    base, _, member = name.partition(":")
    inner = base.lstrip(".")
    dots = len(base) - len(inner)
    inner = inner.replace(".", "/")
    folder = path.rpartition("/")[0]
    if dots:
        for _ in range(dots - 1):
            if not folder:
                return ()
            folder = folder.rpartition("/")[0]
        roots = [folder]
    else:
        # A file is imported from the folder that its outermost package lies in; no package, its own folder.
        while folder and f"{folder}/__init__.py" in there.files:
            folder = folder.rpartition("/")[0]
        roots = [folder, "", "src"]
    for root in roots:
        whole = _below(root, inner) if inner else root
        found = there.modules.get(_below(whole, member) if member else whole) or there.modules.get(whole)
        if found:
            return (found,)
    return ()


def _go(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:  # noqa: ARG001 - a rule's signature
    for folder, module in there.go_modules.items():
        if name == module or name.startswith(module + "/"):
            within = _join(folder, name[len(module) + 1 :])
            return there.packages.get("" if within == "." else within, ())
    return ()


def _rust(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:
    first, *rest = name.split("::")
    folder, file = posixpath.split(path)
    own = folder if file in _ROOTS or file == "mod.rs" else path.removesuffix(".rs")
    if first == "crate":
        own = next((f for f in _above(path) if any(_join(f, root) in there.files for root in _ROOTS)), own)
    elif first == "super":
        own = posixpath.dirname(own)
        while rest[:1] == ["super"]:
            own, rest = posixpath.dirname(own), rest[1:]
    elif first != "self":
        rest = [first, *rest[:1]]
    for end in range(len(rest), 0, -1):
        at = _join(own, *rest[:end])
        if found := _first(there, f"{at}.rs", f"{at}/mod.rs"):
            return found
    if first not in {"crate", "super"}:
        return ()
    return _first(there, f"{own}.rs", *(_join(own, root) for root in ("mod.rs", "lib.rs", "main.rs")))


def _java(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:  # noqa: ARG001 - a rule's signature
    """A class is where its package says, below some root; where several roots have it, nothing is settled."""
    parts = name.split(".")
    while len(parts) > 1:  # a class may lie inside of another
        wanted = "/".join(parts) + ".java"
        found = [
            p for p in there.named.get(f"{parts[-1]}.java", ()) if p == wanted or p.endswith("/" + wanted)
        ]
        if found:
            return (found[0],) if len(found) == 1 else ()
        parts.pop()
    return ()


def _script(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:
    if not name.startswith("."):
        return ()
    at = _join(posixpath.dirname(path), name)
    stem, _, suffix = at.rpartition(".")
    swapped = (
        [f"{stem}.{suffix.replace('js', 'ts')}", f"{stem}.tsx"]
        if suffix in {"js", "mjs", "cjs", "jsx"}
        else []
    )
    return _first(
        there,
        at,
        *swapped,
        *(f"{at}.{suffix}" for suffix in _SCRIPTS),
        *(_join(at, f"index.{suffix}") for suffix in _SCRIPTS),
    )


def _ruby(path: str, name: str, there: SourceFiles) -> tuple[str, ...]:
    file = name if name.endswith(".rb") else f"{name}.rb"
    if name.startswith("."):
        return _first(there, _join(posixpath.dirname(path), file))
    return _first(there, *(_join(folder, "lib", file) for folder in _above(path)))


_RULES: dict[str, Callable[[str, str, SourceFiles], tuple[str, ...]]] = {
    "go": _go,
    "rust": _rust,
    "typescript": _script,
    "javascript": _script,
    "python": _python,
    "java": _java,
    "ruby": _ruby,
}
