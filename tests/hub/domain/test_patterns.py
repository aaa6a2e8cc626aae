"""A pattern is compiled when it is first asked for, and once."""

import re

from hub.domain.patterns import late


def test_nothing_is_compiled_before_it_is_asked_for(monkeypatch):
    compiled = []
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given) or given)
    pattern = late("a+", re.IGNORECASE)
    assert not compiled
    assert pattern() is pattern() == ("a+", re.IGNORECASE)
    assert len(compiled) == 1
