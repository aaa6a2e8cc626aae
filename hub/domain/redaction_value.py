"""Whether a value looks like a secret: made by a machine, not written by a person.

Owns: the judgement of a single value, apart from where it stands.
Must not: know where the value stands, or any provider's form.

What counts is the *random mass*: the letters and digits in those segments of the value that mix both. Names, paths
and sentences have next to none of it; a generated key is hardly anything else.
"""

from __future__ import annotations

import re

_SEGMENT = re.compile("[A-Za-z0-9]+")
_UUID = re.compile("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_COMPUTED = re.compile(r"[<>{}\[\]]|\$[({A-Za-z_]|^\$|\*\*\*|\.\.\.|%[A-Za-z_]+%")
_PLACEHOLDER = re.compile(
    "(?i)example|placeholder|change.?me|your(?![a-z0-9]{6})|x{5}|redacted|dummy|1234567|(?:1234[_-]){2}|abcdefg|0{8}"
)
_ODD = re.compile("[0-9!@#$%^&*]")
_COMMON = re.compile(
    "(?i)(?:password|passwd|passphrase|pass|secret|token|test|user|username|none|null|prompt)[0-9]*"
)
_NUMBERS = re.compile("[0-9]+")
_HUMPS = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HUMP, _HUMP_MIXED = 2.5, 3.0
"""Letters in a word of a name in camel case, at least, on average; and where there are digits too."""
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&*]")))
_MASS = 14
_DISTINCT = 7
_VARIED = 4
_DIGITS = 15
_PASSWORD = 5
_KINDS_LEAST = 3


def placeholder(value: str) -> bool:
    """Whether the value stands for one: a variable, a blank, an example."""
    return bool(_COMPUTED.search(value) or _PLACEHOLDER.search(value)) or len(set(value.lower())) < _VARIED


def machine_made(value: str, mass: int = _MASS) -> bool:
    """Whether the value has at least `mass` letters and digits mixed at random, or is a UUID or a long number."""
    if len(value) < mass or placeholder(value):
        return False
    segments = _SEGMENT.findall(value)
    if _UUID.search(value) or any(
        segment.isdigit() and len(segment) >= _DIGITS and len(set(segment)) >= _VARIED for segment in segments
    ):
        return len(set(value)) >= _DISTINCT
    random = "".join(filter(drawn, segments))
    return len(random) >= mass and len(set(random)) >= _DISTINCT and _mixed(random)


def drawn(segment: str) -> bool:
    """Whether a segment's characters are mixed: letters with digits, or small letters with capitals as no name has."""
    letters = segment.isalpha()
    if segment.isdigit() or (letters and (segment.islower() or segment.isupper())):
        return False
    return not letters or len(_HUMPS.findall(segment)) * _HUMP >= len(segment)


def _mixed(random: str) -> bool:
    """Whether digits and capitals stand among the letters as chance puts them, not as a number behind a name."""
    return len(_NUMBERS.findall(random)) > 1 or len(_HUMPS.findall(random)) * _HUMP_MIXED >= len(random)


def hidden_password(value: str) -> bool:
    """Whether a value in the place of a password is one: no variable, no word that stands for it."""
    return (
        len(value) >= _PASSWORD
        and not placeholder(value)
        and _COMMON.fullmatch(value) is None
        and bool(_ODD.search(value))
    )


def mixed_password(value: str) -> bool:
    """The same for a value without quotes, which in a program is most often a name: three kinds of characters."""
    return hidden_password(value) and sum(kind.search(value) is not None for kind in _KINDS) >= _KINDS_LEAST
