"""Which operations are on a path.

Owns: the way from a path to its operations, by their methods, and to the path's parameters.
Must not: serve an operation, or say what becomes of a request that none takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hub.web.route import Operation, Route

Methods = Mapping[str, Operation]


class PathTable:
    """Operations by their paths. A route that reads is there for HEAD too."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._methods: dict[str, dict[str, Operation]] = {}
        for one in operations:
            methods = self._methods.setdefault(one.path, {})
            methods[one.method] = one
            if one.method == "GET" and isinstance(one, Route):
                methods["HEAD"] = one
        self._patterns = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path)), methods)
            for path, methods in self._methods.items()
            if "{" in path
        ]

    def at(self, path: str) -> tuple[Methods, dict[str, str]]:
        """The operations on a path, and its parameters; none where it is nobody's."""
        if "{" not in path and path in self._methods:
            return self._methods[path], {}
        for pattern, methods in self._patterns:
            if found := pattern.fullmatch(path):
                return methods, found.groupdict()
        return {}, {}
