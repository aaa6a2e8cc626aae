"""Text full of heads: what is passed over unseen changes nothing, and most of it is passed over."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hub.domain.redaction import prefix
from hub.domain.redaction import rule as rule_module
from hub.domain.redaction.literals import _re2
from hub.domain.redaction.prefix import PrefixRules
from hub.domain.redaction.rule import ALNUM, LetterRun
from hub.domain.redaction.rules import RULES

LAYER = PrefixRules()
LITERALS = sorted({rule.literal for rule in RULES})
EACH = [(rule, re.compile(rule.full()).match) for rule in RULES]
FILLING = (
    *("a", "1", "-", "_", " ", "\n", "\\n", "%41", ".", ":", "@", ";", "=", "~", "aB3", "x" * 40, "f" * 70),
    *("A1B2" * 4, "a1B2c3D4e5", "a1B2" * 40, "w" * 600, "PRIVATE KEY-----", "-----", "Basic ", ".eyJ"),
)


def regions(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is hidden as one: finds that overlap."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def every(text: str) -> list[tuple[int, int]]:
    """Every match of every rule, each looked at by itself."""
    found = []
    for rule, match in EACH:
        for head in re.finditer(f"(?={re.escape(rule.literal)})", text):
            hit = match(text, head.start())
            if hit is not None and rule.takes(hit["secret"]):
                found.append((hit.start("secret"), hit.end()))
    return found


dense = st.lists(st.sampled_from(LITERALS), min_size=1, max_size=3).flatmap(
    lambda heads: st.lists(st.sampled_from(heads * 4 + list(FILLING)), max_size=60).map("".join)
)


@given(dense)
@example("sk-ant-" * 300)
@example("sk-ant-" * 300 + "a" * 600)
@example("/api/webhooks/" + "aB3" * 166 + "/api/webhooks/" + "aB3" * 200)
@example("8Q~8Q~" + "a1B2c" * 7)
@example("gldt-" * 200 + "-" + "glpat-" * 200)
def test_the_regions_are_those_of_all_heads_looked_at_one_by_one(text):
    """A head within a secret of its own rule is passed over only where a later one hides as much."""
    spans, _ = LAYER.scan(text, 0, final=True)
    assert regions(text, [(span.start, span.end) for span in spans]) == regions(text, every(text))


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("literal", LITERALS)
def test_repeated_heads_are_hardly_looked_at(literal, final, monkeypatch):
    """No text is slow because it is full of one head (security row 45): in steps, which no clock disturbs."""
    looked = []
    look = prefix._Looks._looked
    monkeypatch.setattr(
        prefix._Looks, "_looked", lambda self, form, at: looked.append(at) or look(self, form, at)
    )
    text = literal * (60_000 // len(literal))
    LAYER.scan(text, 0, final=final)
    assert len(looked) <= 1500


def test_of_a_body_that_is_no_secret_few_letters_are_judged(monkeypatch):
    """Bug: each head of a text full of bodies like `aaaaaaaa1` was judged by 512 letters: 0.4 MB/s."""
    judged = []
    blank = rule_module._is_blank
    monkeypatch.setattr(
        rule_module, "_is_blank", lambda letters: judged.append(len(letters)) or blank(letters)
    )
    text = "glsa_xxxxxxxx1" * 500
    LAYER.scan(text, 0, final=True)
    assert 0 < sum(judged) <= 8 * len(text)


def test_no_head_that_needs_a_boundary_begins_within_itself():
    """Within a word no such head stands, but two letters behind its begin where that is escaped: those would be missed."""
    for rule in RULES:
        if rule.boundary or rule.before:
            assert rule.literal[0] not in rule.literal[1:3], rule
        if rule.before:
            assert isinstance(rule.parts[1], LetterRun)
            assert all(re.match(f"[{rule.parts[1].letters}]", letter) for letter in rule.literal)
        if rule.exact:
            assert rule.boundary or rule.before
    assert ALNUM == "A-Za-z0-9"


@pytest.mark.parametrize(
    "noise",
    ["a", "sk-", "sk-ant-", "eyJ", "eyJaaaaaaaa.", "://", "://a:", "earer ", "-----BEGIN PRIVATE KEY-----"],
)
def test_hostile_text_is_read_in_linear_time(noise):
    """No pattern backtracks: ten times the text takes about ten times the steps (security row 45)."""
    rules = PrefixRules()
    small, large = (steps(rules, noise * (size // len(noise))) for size in (20_000, 200_000))
    assert large <= 20 * small + 1000


def steps(rules: PrefixRules, text: str) -> int:
    """Letters looked at, as far as matches tell: a bound that no clock disturbs."""
    spans, hold = rules.scan(text, 0, final=False)
    return sum(span.end - span.at for span in spans) + len(text) - hold + len(text)


@pytest.mark.parametrize(
    "noise",
    ["sk-", "ghp_", "://", "://a:", "earer ", "eyJ.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----"],
)
def test_heads_without_bodies_are_passed_over(noise):
    """Where RE2 is, no rule is even tried on them: 200,000 letters cost what 20,000 do, but for reading them (row 45)."""
    rules = PrefixRules()
    everywhere = _re2() is None
    for size in (20_000, 200_000):
        text = noise * (size // len(noise))
        following = rules._literals.following(text.encode(), 0)
        first = following(0)
        assert everywhere or first is None or following(first + 1) is None
        spans, hold = rules.scan(text, 0, final=False)
        assert spans == []
        assert hold >= len(text) - 2 * len(noise) - len("PRIVATE KEY-----")


PIECES = (
    *(rule.literal for rule in RULES),
    *(
        "sk-",
        "-----",
        "----",
        "PRIVATE KEY-----",
        "Basic ",
        "eyJ",
        "://",
        "a1B2c3D4",
        "X" * 40,
        "f" * 70,
        "a1B2" * 200,
    ),
    *(".", ":", "@", "=", ";", " ", "\n", "\x0b", "\xa0", "\u2028", "é"),
)


PLAIN = PrefixRules()
"""The same rules without RE2. Both are made once: RE2 compiles their patterns for 50 ms."""
PLAIN._literals.__dict__["_finditer"] = None
PLAIN._begun_late = lambda: None


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_rules_find_and_hold_the_same_with_re2_and_without(text):
    """RE2 reads ahead of the rules, in a view where it knows no look-around: it may only ever ask too often."""
    assert sorted(LAYER.scan(text, 0, final=True)[0]) == sorted(PLAIN.scan(text, 0, final=True)[0])
    spans, hold = LAYER.scan(text, 0, final=False)
    expected, held = PLAIN.scan(text, 0, final=False)
    assert hold == held
    assert sorted(span for span in spans if span.start < hold) == sorted(
        span for span in expected if span.start < held
    )
