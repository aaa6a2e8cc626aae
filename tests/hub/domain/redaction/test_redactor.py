"""Secrets leave no trace: in every form, over every cut, twice as well as once."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import re
import textwrap
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hub.domain.event import Event, EventType
from hub.domain.redaction.assigned import Assignments
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.known import MIN_LENGTH, forms
from hub.domain.redaction.literals import _re2
from hub.domain.redaction.prefix import PrefixRules
from hub.domain.redaction.redactor import KnownSecrets, Redactor, Span, summary
from hub.domain.redaction.rule import Rule, Run
from hub.domain.redaction.rules import RULES
from hub.domain.redaction.value import hidden_password, machine_made, placeholder
from hub.domain.redaction.words import WORDS

KEY = b"installation"
ANTHROPIC = "sk-ant-api03-" + "Zq8" * 30 + "AA"
ODD = 'p"a\\ss/wörd+&% \u00e9'
RAW = bytes(range(200, 232))
MULTILINE = "first line of it\n  second line\n\tthird"
ENDING = "n-secret-value-r\\"
VALUES = [ANTHROPIC, ODD, RAW, MULTILINE, ENDING, "hunter2hunter2"]
KNOWN = KnownSecrets(VALUES, ["ANTHROPIC_API_KEY", "odd", "raw key"])
MARK = re.compile(r"\[REDACTED:[a-z0-9-]{1,32}:[0-9a-f]{8}\]")
ALL_FORMS = sorted({form for v in VALUES for form in forms(v if isinstance(v, bytes) else v.encode())})


def redactor(known: KnownSecrets = KNOWN) -> Redactor:
    return Redactor(known, KEY)


def streamed(text: str, cuts: list[int], known: KnownSecrets = KNOWN) -> str:
    stream = redactor(known).stream()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise(places)]
    return "".join(pieces) + stream.flush()


def leaks(output: str, secret: str) -> bool:
    """Whether eight letters in a row of the secret are left."""
    bare = MARK.sub("\0", output)
    return any(secret[i : i + MIN_LENGTH] in bare for i in range(len(secret) - MIN_LENGTH + 1))


# --- known values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ALL_FORMS, ids=range(len(ALL_FORMS)))
def test_every_form_is_hidden_and_at_every_cut_alike(form):
    """Recall is 100 % over all forms and every split offset."""
    text = f"before {form} after"
    whole = redactor().text(text)
    assert not leaks(whole, form)
    assert whole.startswith("before ")
    assert whole.endswith(" after")
    for cut in range(len(text) + 1):
        assert streamed(text, [cut]) == whole


@pytest.mark.parametrize("value", [ANTHROPIC, "hunter2hunter2", ODD])
@pytest.mark.parametrize(
    "written",
    [
        lambda v: base64.b64encode(b"x" * 5 + v.encode() + b"y").decode(),
        lambda v: base64.b64encode(b"user:" + v.encode()).decode(),
        lambda v: base64.urlsafe_b64encode(b"ab" + v.encode()).decode(),
        lambda v: base64.encodebytes(b"a" * 50 + v.encode() + b"z" * 50).decode(),
        lambda v: textwrap.fill(v.encode().hex(), 20, subsequent_indent="    "),
        lambda v: "\r\n\t".join(v[i : i + 5] for i in range(0, len(v), 5)) if " " not in v else v,
        lambda v: json.dumps({"a": json.dumps({"b": "x\n" + v})}),
        lambda v: json.dumps(base64.encodebytes(v.encode() * 3).decode()),
        lambda v: f"https://host/?k={quote(v, safe='')}&x",
        lambda v: v[::-1],
        lambda v: v.encode().hex().upper(),
    ],
    ids=range(11),
)
def test_the_forms_in_which_programs_write_are_hidden(value, written):
    text = written(value)
    out = redactor().text(text)
    assert out != text
    lines = re.sub(r"\s|\\n", "", MARK.sub("\0", out))
    for form in (value, value[::-1], value.encode().hex(), base64.b64encode(value.encode()).decode()):
        assert not any(form[i : i + 8] in lines for i in range(4, len(form) - 12))


def test_the_same_secret_has_the_same_marker_in_every_form_and_another_installation_another():
    marks = {MARK.findall(redactor().text(form))[0] for form in forms(ANTHROPIC.encode())}
    assert len(marks) == 1
    assert marks.pop().startswith("[REDACTED:anthropic-api-key:")
    other = Redactor(KNOWN, b"other").text(ANTHROPIC)
    assert MARK.fullmatch(other)
    assert other != redactor().text(ANTHROPIC)


def test_overlapping_secrets_are_one_region():
    """Replacing the first alone would leave the tail of the second."""
    known = KnownSecrets(["abcdefgh12345678", "12345678ijklmnop"])
    out = redactor(known).text("x abcdefgh12345678ijklmnop y")
    assert re.fullmatch(r"x \[REDACTED:known:[0-9a-f]{8}\] y", out)


def test_a_secret_within_another_does_not_cut_it():
    known = KnownSecrets(["abcdefgh", "abcdefghijklmnopqrst"], ["short", "long"])
    assert "ijklmnop" not in redactor(known).text("abcdefghijklmnopqrst")


def test_touching_secrets_have_a_marker_each():
    known = KnownSecrets(["abcdefgh", "ijklmnop"])
    assert len(MARK.findall(redactor(known).text("abcdefghijklmnop"))) == 2


def test_a_secret_that_is_cut_off_at_the_end_is_hidden():
    """An agent killed while it prints a key, or a text clipped before it was redacted."""
    for size in range(MIN_LENGTH, len(ANTHROPIC)):
        for text in (f"key: {ANTHROPIC[:size]}", f"key: {ANTHROPIC[:5]}\n {ANTHROPIC[5:size]}"):
            assert not leaks(redactor().text(text), ANTHROPIC)
    for end in ("\\", "\n"):
        assert not leaks(redactor().text(f"key: {ANTHROPIC[:40]}{end}"), ANTHROPIC)
    assert redactor().text(f"key: {ANTHROPIC[:7]}") == f"key: {ANTHROPIC[:7]}"


def test_short_and_huge_values_are_left_out_and_no_value_is_shown():
    known = KnownSecrets(["short", "", b"1234567", "REDACTED", "x" * 70_000])
    assert (
        redactor(known).text("short 1234567 [REDACTED:x:12345678]") == "short 1234567 [REDACTED:x:12345678]"
    )
    assert repr(KNOWN) == "<KnownSecrets: 6 values>"
    spans, _ = KNOWN.scan(ANTHROPIC, 0, final=True)
    assert "Zq8" not in repr(spans)


def test_no_values_no_work():
    assert redactor(KnownSecrets()).text("nothing\nat all\\") == "nothing\nat all\\"


def test_a_stream_of_one_repeated_letter_holds_no_more_than_the_secret():
    """An endless overlap must not fill memory."""
    stream = redactor(KnownSecrets(["aaaaaaaaaa"])).stream()
    for _ in range(200):
        stream.feed("a" * 100)
        assert len(stream._held) <= 10
    assert stream.feed(".") == "."


def test_only_what_could_begin_a_secret_is_held_back():
    stream = redactor().stream()
    assert stream.feed("it goes like hunter2") == "it goes like "
    assert stream.feed(" and more.") == "hunter2 and more."


# --- rules ----------------------------------------------------------------------------------------------------


def sample(rule: Rule, rng: random.Random) -> str:
    """A text that the rule matches, made from its parts at random: a form's letters, as whoever makes such secrets writes them.

    A `%` stands before two hex digits, and what is `mixed` has a letter and a digit: by chance alone one secret in a
    thousand would have none.
    """
    return ("abc" if rule.before else "") + "".join(
        part if isinstance(part, str) else drawn_run(part, rng, mixed=rule.mixed) for part in rule.parts
    )


def drawn_run(run: Run, rng: random.Random, *, mixed: bool) -> str:
    if run.stop == "PRIVATE KEY-----":
        return "RSA "
    letters = [
        c for c in map(chr, range(33, 127)) if re.match(f"[{run.letters}]", c) and c not in "-.,:\\ "
    ] or ["\n"]
    size = run.least if run.most <= SEPARATOR else min(run.most, max(run.least, 4) + 20)
    while True:
        units = (f"%{rng.randrange(256):02X}" if c == "%" else c for c in rng.choices(letters, k=size))
        out = "".join(units)[:size].removesuffix("%")
        kinds = [kind for kind in (str.isalpha, str.isdigit) if any(map(kind, letters))]
        if not mixed or all(any(map(kind, out)) for kind in kinds):
            return out


SEPARATOR = 8
"""No run of a secret's letters is this short: such a one stands between a name and its value."""
SAMPLES = 100


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {rule.literal}")
def test_every_rule_hides_its_secret_whatever_letters_were_drawn(rule):
    """A hundred secrets of each form: what one in a thousand is not hidden for must not hide behind chance."""
    rng = random.Random(rule.literal)
    shown = [text for text in (f"a {sample(rule, rng)} b" for _ in range(SAMPLES)) if not hides(rule, text)]
    assert shown == []


def hides(rule: Rule, text: str) -> bool:
    return f"[REDACTED:{rule.name}:" in redactor().text(text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {rule.literal}")
def test_every_rule_hides_its_secret_at_every_cut(rule):
    rng = random.Random(rule.literal)
    text = f"a {sample(rule, rng)} b\n{sample(rule, rng)}"
    whole = redactor().text(text)
    assert len(MARK.findall(whole)) >= 2
    assert f"[REDACTED:{rule.name}:" in whole
    assert redactor().text(whole) == whole
    for cut in range(len(text) + 1):
        assert streamed(text, [cut]) == whole


@pytest.mark.parametrize(
    "value",
    [
        "abc8Q~7L1AK4PUt_fkMd9m79HyITi4UEOEeVNQUh",
        "sk-ant-api03-7xQenter_2aB3c4D5e6F7g8H9i0J1k2L3",
        "glpat-9bgoes-4a1xR2c7vT8q",
    ],
)
def test_a_key_in_which_chance_wrote_a_word_for_a_placeholder_is_one(value):
    """`put_`, `enter_` and `goes-` say so only where they are words of their own."""
    assert value not in redactor().text(f"it is {value} b")


REAL = [
    ("anthropic", "sk-ant-api03-" + "xK7" * 31 + "-AA", ""),
    ("openai", "sk-proj-" + "a1B2" * 30, ""),
    ("openai", "\\nsk-" + "a1B2" * 12, "\\n"),
    ("google", "AIzaSyA-k29Xq4mVb7TzLw8RnJc5HdYf3Gs6PeU", ""),
    ("github", "ghp_" + "a1B2" * 9, ""),
    ("aws", "AKIAIOSFODNN7QX5MPLE", ""),
    (
        "aws",
        'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYZQ4TPLEKEY"',
        'aws_secret_access_key = "',
    ),
    (
        "jwt",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "",
    ),
    ("bearer", "Authorization: Bearer qz7defghijklmnopqrstuvwxyz", "Authorization: Bearer "),
    ("basic-auth", "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic "),
    ("url-login", "postgres://user:pa55word@host/db", "postgres://user:"),
    (
        "private-key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbCdEfGhIjKl\n-----END RSA",
        "-----BEGIN RSA PRIVATE KEY-----",
    ),
]


@pytest.mark.parametrize(("rule", "text", "kept"), REAL)
def test_real_keys_are_hidden_and_what_names_them_is_kept(rule, text, kept):
    assert re.match(rf"{re.escape(kept)}\[REDACTED:{rule}:[0-9a-f]{{8}}\]", redactor().text(text))


@pytest.mark.parametrize(
    "text",
    [
        "task-0123456789abcdef0123456789abcdef",
        "sk-learn sk- sk-ant- risk-assessment-of-the-whole-orchestration-daemon",
        "eyJ.eyJ.x",
        "http://127.0.0.1:4748/api and http://host:8080/x@y",
        "Bearer of bad news, the bearer token is missing",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "the SHA is 3f786850e387550fdab836ed7e6dc881de23001b",
        "AKIA is how AWS ids begin",
    ],
)
def test_ordinary_text_stays(text):
    assert redactor().text(text) == text


def test_the_projects_own_source_has_no_false_finding(pytestconfig):
    """At most one false redaction in 100 kB, none in the project's own source."""
    for path in (pytestconfig.rootpath / "hub").rglob("*.py"):
        text = path.read_text()
        assert redactor().text(text) == text, path


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


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_rules_find_and_hold_the_same_with_re2_and_without(text):
    """RE2 reads ahead of the rules, in a view where it knows no look-around: it may only ever ask too often."""
    plain = PrefixRules()
    plain._literals.__dict__["_finditer"] = None
    plain._begun_late = lambda: None
    rules = PrefixRules()
    assert sorted(rules.scan(text, 0, final=True)[0]) == sorted(plain.scan(text, 0, final=True)[0])
    spans, hold = rules.scan(text, 0, final=False)
    expected, held = plain.scan(text, 0, final=False)
    assert (sorted(spans), hold) == (sorted(expected), held)


@given(st.text("aB3-_/.=", min_size=128, max_size=160), st.text(max_size=20), st.text(max_size=20))
def test_no_more_of_a_value_is_judged_than_tells_what_it_is(value, one, other):
    """A text full of words of secrets has a value behind each, which goes on to its end."""
    assert machine_made(value + one) == machine_made(value + other)
    assert placeholder(value + one) == placeholder(value + other)


@given(st.text("abcdefxyz-_./=:;,+~? ", max_size=160))
def test_no_named_secret_is_without_digits_capitals_and_signs(value):
    """What the layer of names passes over unseen is none: all of these ask for one of those letters."""
    assert not machine_made(value)
    assert not machine_made(value, 10)
    assert not hidden_password(value)


@pytest.mark.parametrize(
    "word", [*(word.decode() for word in WORDS), "token=", "cookie: a=b; ", "curl -u a:"]
)
@pytest.mark.parametrize("final", [True, False])
def test_repeated_words_that_no_secret_follows_are_passed_over(word, final):
    """No text is slow because it is full of words that announce secrets (security row 45), at its end or not."""
    layer, text = Assignments(), f"{word} " * (80_000 // len(word))
    view = text.encode()
    words = list(layer._worthwhile(text, view, 0, final=final))
    reach = 0 if final else 2_000
    near = [at for at, _, found in words if at < len(text) - reach and found not in (b"cookie", b" -u")]
    assert near == []


def test_a_word_far_from_the_next_digit_is_passed_over_and_one_near_it_is_not():
    text = (
        "token " * 2000
        + 'token="a1B2c3D4e5F6g7H8"'
        + " token" * 2000
        + " curl"
        + "x" * 3000
        + " -u a:b Cookie "
    )
    spans, _ = Assignments().scan(text, 0, final=True)
    assert {text[span.start : span.end] for span in spans} == {"a1B2c3D4e5F6g7H8"}
    header = "token " * 2000 + "cookie: a=" + "w" * 3000 + "; session=a1B2c3D4e5F6g7H8i9J0"
    spans, _ = Assignments().scan(header, 0, final=True)
    assert {header[span.end - 4 : span.end] for span in spans} == {"i9J0"}


# --- laws -----------------------------------------------------------------------------------------------------

alphabet = st.sampled_from(
    [
        *ALL_FORMS,
        *VALUES[:2],
        ANTHROPIC[:20],
        ANTHROPIC[9:],
        "hunter2",
        "2hunter2",
        "\n",
        "\r\n  ",
        "\\n",
        "\\",
        " ",
        "n",
        "x",
    ]
    + [sample(rule, random.Random(rule.literal)) for rule in RULES]
    + [
        "sk-",
        "ant-",
        "eyJ",
        "Bearer ",
        "-----",
        "BEGIN ",
        "PRIVATE KEY-----",
        "://",
        ":",
        "@",
        "[REDACTED:x:",
        "]",
    ]
)
texts = st.lists(alphabet, max_size=6).map("".join)
cuts = st.lists(st.integers(0, 400), max_size=6)


@given(texts, cuts)
@example("hunter2hunter\\" + "n2", [14])
@example("n-secret-value-r\\" + "n x", [17])
@example("Bearer hunter2hunter2hunter2", [7, 14])
def test_however_a_text_is_cut_its_pieces_are_the_whole(text, cuts):
    assert streamed(text, cuts) == redactor().text(text)


@settings(max_examples=50)
@given(texts)
def test_letter_by_letter_is_the_whole(text):
    text = text[:600]
    assert streamed(text, list(range(len(text)))) == redactor().text(text)


@given(texts)
@example("hunter2hunter2sk-" + "a1B2" * 10)  # a marker is no boundary
@example("hunter2hunter2abc8Q~" + "a1B2c" * 7)
@example("AKIA" + "A1B2" * 4 + "hunter2hunter2")
@example("login " + "hunter2" * 12 + " password a1B2c3D4e5")
def test_redacting_twice_is_redacting_once_and_nothing_remains(text):
    once = redactor().text(text)
    assert redactor().text(once) == once
    for form in ALL_FORMS:
        assert form not in once


@given(
    st.lists(
        st.sampled_from(["aaaaaaaa", "aaaaaaab", "baaaaaaaa", "abababab", "abababababa", "bbbbbbbba"]),
        unique=True,
    ),
    st.text("ab\n\\", max_size=60),
    cuts,
)
def test_the_laws_hold_for_values_that_overlap_in_every_way(values, text, cuts):
    known = KnownSecrets(values)
    whole = redactor(known).text(text)
    assert streamed(text, cuts, known) == whole
    assert not any(value in whole.replace("\n", "").replace("\\n", "") for value in values)


# --- events ---------------------------------------------------------------------------------------------------


def test_an_event_is_redacted_in_content_and_everywhere_in_meta():
    key = "hunter2hunter2"
    event = Event(EventType.TOOL_USE, f"use {key}", {"a": [key, 1, {"b": (key, None)}], key: True, "n": 1.5})
    safe = redactor().event(event)
    assert key not in json.dumps(safe.to_json())
    assert safe.meta["n"] == 1.5
    assert safe.meta["a"][1] == 1


def test_an_event_without_secrets_is_the_same_object():
    event = Event(EventType.TEXT, "plain", {"plan": ["a"]})
    assert redactor().event(event) is event


def test_deep_meta_is_flattened_rather_than_followed():
    deep: object = "hunter2hunter2"
    for _ in range(100):
        deep = [deep]
    out = json.dumps(redactor().event(Event(EventType.TEXT, "", {"x": deep})).to_json())
    assert "hunter2" not in out


def test_counts_are_by_kind_and_taken_once():
    red = redactor()
    red.text(f"hunter2hunter2 {ANTHROPIC} {ANTHROPIC} ghp_{'a1B2' * 9}")
    counts = red.take_counts()
    assert summary(counts) == "anthropic-api-key:2, github:1, known:1"
    assert red.take_counts() == {}
    assert summary({}) == ""


def test_many_different_secrets_do_not_fill_the_table_of_markers():
    red = redactor()
    for number in range(1100):
        assert MARK.fullmatch(red.text(f"ghp_{hashlib.sha256(str(number).encode()).hexdigest()}"))
    assert len(red._marks) == 1024


def delta(text: str, kind: EventType = EventType.TEXT) -> Event:
    return Event(kind, text, {"delta": True})


def test_a_secret_in_two_pieces_of_streamed_text_is_hidden():
    red = EventRedactor(redactor())
    out = [*red.feed(delta("key hunter2hun")), *red.feed(delta("ter2 ok")), *red.flush()]
    assert re.fullmatch(r"key \[REDACTED:known:[0-9a-f]{8}\] ok", "".join(event.content for event in out))
    assert red.take_counts() == {"known": 1}


def test_what_was_held_back_comes_before_the_next_event_and_nothing_is_lost():
    red = EventRedactor(redactor())
    tool = Event(EventType.TOOL_USE, "ls", {})
    out = [*red.feed(delta("say hunter2")), *red.feed(delta("umm.", EventType.THINKING)), *red.feed(tool)]
    assert [(e.type, e.content) for e in out] == [
        (EventType.TEXT, "say "),
        (EventType.TEXT, "hunter2"),
        (EventType.THINKING, "umm."),
        (EventType.TOOL_USE, "ls"),
    ]
    assert all(e.meta.get("delta") for e in out[:3])
    assert "hunter2" not in red.text("hunter2hunter2")


class Everything:
    """A layer as an engine for unknown secrets would be one."""

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        spans = [
            Span(m.start(), 9, m.end(), m.start(), "engine", m[0]) for m in re.finditer("SECRET", text[lo:])
        ]
        return [s._replace(start=s.start + lo, end=s.end + lo) for s in spans], len(text) if final else max(
            lo, len(text) - 5
        )


def test_what_names_a_secret_is_held_with_it_while_another_layer_waits():
    """A known value may begin inside `Bearer `: letting that out would blind the rule to the key behind it."""
    known = KnownSecrets(['er qz7defghijklmnopqrstuvwxyz"secret'])
    text = 'Bearer qz7defghijklmnopqrstuvwxyz"secre!'
    assert "defghijk" not in redactor(known).text(text)
    for cut in range(len(text) + 1):
        assert streamed(text, [cut], known) == redactor(known).text(text)


def test_another_layer_can_be_added():
    red = Redactor(KNOWN, KEY, [Everything()])
    stream = red.stream()
    assert MARK.sub("*", stream.feed("a SEC") + stream.feed("RET b") + stream.flush()) == "a * b"


# --- where people and programs write them -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the password is x1DvsNttEU7Inx7YUpuW.", "x1DvsNttEU7Inx7YUpuW"),
        ("connecting with password 'SYeJc3TrJd.9Qg' to db", "SYeJc3TrJd.9Qg"),
        ("CREATE USER app WITH PASSWORD 'im3!yh+P76AlGM';", "im3!yh+P76AlGM"),
        ('GRANT ALL ON x TO a IDENTIFIED BY "BEWB_HfXEsRIg"', "BEWB_HfXEsRIg"),
        ('client.setApiKey("9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c")', "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"),
        ('ConvertTo-SecureString "MiIZI2N8ltczo" -Force', "MiIZI2N8ltczo"),
        ('auth=("bob", "kY8BE+YUFT1QW")', "kY8BE+YUFT1QW"),
        ('db:\n  pass: "biJ6AR#E*zhXY"', "biJ6AR#E*zhXY"),
        ("$dbpass = 'mYOqqbY#X_H5?';", "mYOqqbY#X_H5?"),
        ('contraseña = "2uWGgNQbxXi*7"', "2uWGgNQbxXi*7"),
        ('variable "db_password" {\n  default = "0NcuWVu9aVF7eOBi"\n}', "0NcuWVu9aVF7eOBi"),
        ("set -gx BITTREX_KEY nz6gxtxlpy78uwdh2jit4eomeytzec6x", "nz6gxtxlpy78uwdh2jit4eomeytzec6x"),
        ("sshpass -p '#n!h2+vAaDd0_' ssh me@host", "#n!h2+vAaDd0_"),
        ("mysql -u root -pcT1wx05cLwi8i8 app", "cT1wx05cLwi8i8"),
        ("docker login -u bot -p i9qOYi99e6V40ODvU3heL6jK host", "i9qOYi99e6V40ODvU3heL6jK"),
        ('curl -b "session=3e4339bb3a52761929ff713f63ac62aa" https://host', "3e4339bb3a52761929ff713f63ac62aa"),
        ("https://d3e7bf22079904f25b10501b68e0c4f9:x-oauth-basic@git.example/a", "d3e7bf22079904f25b10501b68e0c4f9"),
        ("curl -u 'f0dab83kXq2:' https://host", "f0dab83kXq2"),
        ("curl --user me:k9#Lm2pQ https://host", "k9#Lm2pQ"),
        ("client_id: 482915036717245801", "482915036717245801"),
        ("ldap://cn=admin:yVWENlmdA9RRyZKy@ldap.example", "yVWENlmdA9RRyZKy"),
        ("?Expires=17&Signature=PVf68vqdqcohGPkIcHHvAQXelza%3D", "PVf68vqdqcohGPkIcHHvAQXelza"),
        ("GET /callback?state=1&code=FVPLND9FZVOCwIN2Fh8IJUIx HTTP", "FVPLND9FZVOCwIN2Fh8IJUIx"),
        ("key: " + base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nMIIEvq8W2k7Lr9Tz4Xc7Vb1Nm5").decode(), "TUlJRXZxOFcyazdMcjlUejRYYzdW"),
        ("Private-Lines: 1\ndr3qhhbcOtehQmreQCcpavriwdlWjmiTl2ecz\nPrivate-MAC: 1", "dr3qhhbcOtehQmreQCcpavriwdlWjmiTl2ecz"),
    ],
)  # fmt: skip
def test_a_secret_is_hidden_where_people_and_programs_write_it_at_every_cut_alike(text, secret):
    whole = redactor().text(text)
    assert not leaks(whole, secret)
    assert redactor().text(whole) == whole
    for cut in range(len(text) + 1):
        assert streamed(text, [cut]) == whole


@pytest.mark.parametrize(
    "text",
    [
        "the password is required; password is not valid: needs 1 Upper",
        'setPassword("newPassword2")',
        "a password (see Rules2Follow)",
        'auth("google", "Sign in with Google2")',
        'auth=("user", "pass")',
        'auth=("user", k9Qx4Lm2Vt7Rz)',
        "pass: 12, fail: 3; bypass: a1B2c3D4e5F6g7H8; passed: a1B2!c3D4e5F6g7H8",
        "render pass: ShadowPass2",
        "docker run -p 8080:80 image && mysql -p app",
        "tar -p k9Qx4Lm2Vt7Rz!; sort -b session=3e4339bb3a52761929ff713f63ac62aa",
        "curl https://host\ntool -b session=3e4339bb3a52761929ff713f63ac62aa",
        "errorcode=FVPLND9FZVOCwIN2Fh8IJUIx; Signature=RSA-SHA256",
        "ftp://anonymous:anonymous@ftp.example mongodb://<username>:<password>@cluster0.example",
        'validate_password("min")',
        "token=52908400098527886E0F7030069857D2e4169ee7",
        "cat curls -u me:k9#Lm2pQ; curl -u me https://host",
    ],
)
def test_what_only_looks_like_such_a_place_is_left_alone(text):
    assert redactor().text(text) == text


def test_a_known_key_that_goes_on_in_the_next_turn_of_a_talk_is_hidden_there():
    """Turns are read one after another; items that are none, and what stands deeper than is followed, stay as they are."""
    turns = [
        {"role": "a", "text": "it is hunter2"},
        {"role": "b", "text": ""},
        {"role": "a", "text": "hunter2 ok"},
    ]
    safe = redactor().value(["x", *turns, {"text": 7}])
    assert MARK.sub("*", safe[3]["text"]) == "* ok"
    assert (safe[0], safe[1]["text"], safe[4]) == ("x", "it is hunter2", {"text": 7})
    deep: object = turns
    for _ in range(64):
        deep = [deep]
    assert "hunter2hunter2" not in json.dumps(redactor().value(deep))
