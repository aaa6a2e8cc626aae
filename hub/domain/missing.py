"""A name that nothing has: the one that was probably meant, and all there are.

Owns: the words for it.
Must not: know what is named.
Tests: tests/hub/cli/test_ending.py
"""

from __future__ import annotations

from collections.abc import Iterable

from hub.errors import Code, HubError


def no_such(
    what: str, given: str, known: Iterable[str], *, code: Code = Code.NOT_FOUND, hint: str = ""
) -> HubError:
    """There is none of that name: the one that was probably meant, and all there are.

    Args:
        what: A provider, a profile.
        given: The name.
        known: All there are.
        code: What it is an error of.
        hint: What to do where there is none at all.
    """
    import difflib  # noqa: PLC0415  # only for a mistake

    names = list(known)
    near = difflib.get_close_matches(given, names, 1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    told = f"{meant}Known: {', '.join(names)}." if names else hint
    return HubError(code, f"There is no {what} {given!r}.", hint=told)
