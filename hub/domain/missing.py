"""A name that nothing has, or that cannot do what is asked: in which field it stands, what was probably meant.

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
        code: What it is an error of; of INVALID, `what` is the field of the request.
        hint: What to do where there is none at all.
    """
    import difflib  # only for a mistake

    names = list(known)
    near = difflib.get_close_matches(given, names, 1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    told = f"{meant}Known: {', '.join(names)}." if names else hint
    detail = f"There is no {what} {given!r}."
    return invalid_field(what, detail, told) if code is Code.INVALID else HubError(code, detail, hint=told)


def invalid_field(field: str, why: str, hint: str = "") -> HubError:
    """INVALID: why what this field of a request names cannot do it."""
    return HubError(Code.INVALID, why, hint=hint, errors=[{"path": f"$.{field}", "message": why}])
