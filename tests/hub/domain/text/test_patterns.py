"""A pattern is compiled when it is first asked for, and once."""

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from re import _constants, _parser

import hub
import hub.domain
from hub.domain.redaction.rules import RULES
from hub.domain.text.patterns import late

ONE_LETTER = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY}
GIVES_NOTHING_BACK = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")


def test_nothing_is_compiled_before_it_is_asked_for(monkeypatch):
    compiled = []
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given) or given)
    pattern = late("a+", re.IGNORECASE)
    assert not compiled
    assert pattern() is pattern() == ("a+", re.IGNORECASE)
    assert len(compiled) == 1


def test_no_group_is_repeated_possessively():
    """Before Python 3.11.5, `(?:a|b(?!c))*+` loses what its last, failed turn has read: Debian 12's hid no private key.

    `(?>(?:a|b(?!c))*)` means the same and holds there too; of a class of letters `*+` does.
    """
    found = [
        f"{path}:{number}"
        for path in sorted(Path(hub.__file__).parent.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if GIVES_NOTHING_BACK.search(line)
    ]
    assert found == []


def test_no_text_of_a_pattern_has_such_a_group():
    """Also where it is put together from others, as that of cookies was: `(?:;...){{0,63}}+`."""
    found = []
    for module in walk_packages(hub.domain.__path__, "hub.domain."):
        for name, value in vars(import_module(module.name)).items():
            for text in value if isinstance(value, tuple) else (value,):
                made = text() if _is_late(text) else text
                pattern = made.pattern if isinstance(made, re.Pattern) else made
                if isinstance(pattern, str | bytes) and _repeats_a_group(pattern):
                    found.append(f"{module.name}.{name}")
    assert found == []


def test_no_rule_for_secrets_has_such_a_group():
    """They are put together when asked for: so were the lines of a private key, `(?:...){0,160}+`."""
    made = [(rule.name, pattern) for rule in RULES for pattern in (rule.full(), rule.beginning())]
    assert [name for name, pattern in made if _repeats_a_group(pattern)] == []


def _is_late(value: object) -> bool:
    return getattr(value, "__qualname__", "") == late("").__qualname__


def test_such_a_group_is_found():
    assert _repeats_a_group(r"(x(?:;a){0,63}+)|y")
    assert not _repeats_a_group(r"(x(?>(?:;a){0,63}))|[a-z]{2,}+b*+")


def _repeats_a_group(pattern: str | bytes) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):  # most texts are no patterns
            return any(_groups(_parser.parse(pattern)))
    except (re.error, RecursionError, OverflowError):
        return False


def _groups(part: object) -> Iterator[bool]:
    """True for each group of a parsed pattern that is repeated possessively."""
    if isinstance(part, _parser.SubPattern):
        for kind, value in part:
            if kind is _constants.POSSESSIVE_REPEAT:
                yield len(value[2]) != 1 or value[2][0][0] not in ONE_LETTER
            yield from _groups(value)
    elif isinstance(part, list | tuple):
        for each in part:
            yield from _groups(each)
