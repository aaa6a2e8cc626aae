"""A pattern is compiled when it is first asked for, and once."""

import re
from pathlib import Path

import hub
from hub.domain.patterns import late

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
