"""Rules hide what they are made for, whatever letters were drawn and at every cut, and leave ordinary text alone."""

from __future__ import annotations

import random
import re

import pytest

from hub.domain.redaction.redactor import KnownSecrets
from hub.domain.redaction.rule import Rule
from hub.domain.redaction.rules import RULES
from tests.hub.domain.redaction.kit import (
    MARK,
    leaks,
    redactor,
    sample,
    streamed,
)

SAMPLES = 100
NOBODY = KnownSecrets([])
"""The rules alone: beside known values they are tried in `test_redactor`."""


@pytest.mark.no_cover
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {rule.literal}")
def test_every_rule_hides_its_secret_whatever_letters_were_drawn(rule):
    """A hundred secrets of each form: what one in a thousand is not hidden for must not hide behind chance."""
    rng = random.Random(rule.literal)
    shown = [text for text in (f"a {sample(rule, rng)} b" for _ in range(SAMPLES)) if not hides(rule, text)]
    assert shown == []


def hides(rule: Rule, text: str) -> bool:
    return f"[REDACTED:{rule.name}:" in redactor(NOBODY).text(text)


@pytest.mark.no_cover
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {rule.literal}")
def test_every_rule_hides_its_secret_at_every_cut(rule):
    rng = random.Random(rule.literal)
    text = f"a {sample(rule, rng)} b\n{sample(rule, rng)}"
    red = redactor(NOBODY)
    whole = red.text(text)
    assert len(MARK.findall(whole)) >= 2
    assert f"[REDACTED:{rule.name}:" in whole
    assert red.text(whole) == whole
    for cut in range(len(text) + 1):
        stream = red.stream()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:], final=True) == whole


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


IN_A_ROW = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.mark.parametrize(
    "value",
    [
        "sk-ant-api03-" + (IN_A_ROW * 2)[:93] + "AA",
        "sk-ant-api03-" + "A" * 95,
        "sk-ant-abcdef1234567890abcdef1234567890",
        "sk-" + IN_A_ROW[:48],
        "ghp_" + IN_A_ROW[:36],
        "ghp_" + "a" * 36,
        "ghp_1234567890" + IN_A_ROW[:26],
        "hf_" + IN_A_ROW[:26] + "ABCDEFGH",
        "AKIA1234567890ABCDEF",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "sk_live_" + IN_A_ROW[:24],
        "xoxb-123456789012-123456789012-" + IN_A_ROW[:24],
    ],
)
def test_what_a_person_types_for_a_key_is_hidden_too(value):
    """Whoever tries out whether keys are hidden types one; only what says that it stands for a key is left alone."""
    for text in (f"the key is {value}", f"KEY={value}\n", f'{{"key": "{value}"}}'):
        assert value not in redactor().text(text)


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
        # Names of caches, taken for keys of Mailgun.
        "Cache restored from key-d41d8cd98f00b204e9800998ecf8427e",
        "node-key-0cc175b9c0f1b6a831c399e269772661",
        "glpat-your_own_access_token_here, and put an AKIAEXAMPLEKEYID2345 beside it",
    ],
)
def test_ordinary_text_stays(text):
    assert redactor().text(text) == text


@pytest.mark.parametrize(
    "line", ["9f86d081884c7d65" * 4, "/home/me/projects/Application2/backend/services", "=" * 70]
)
def test_no_digest_path_or_rule_behind_the_head_of_a_private_key_is_a_line_of_it(line):
    text = f'grep -l "-----BEGIN {"PRIVATE KEY"}-----" | x_y\n"{line}"'
    assert redactor(NOBODY).text(text) == text


@pytest.mark.parametrize("line", ["> {}", "12\u2192{}", '    "{}\\n" +'])
@pytest.mark.parametrize("ends", [True, False])
def test_the_short_last_line_of_a_private_key_is_hidden_at_every_cut(line, ends):
    """Real keys end in lines of 24 letters (RSA), 32 (Ed25519, as OpenSSH writes it) and 36 (EC)."""
    last = "q8Wk2Lr9Tz4Xc7Vb1Nm5Hq=="
    key = ["-----BEGIN PRIVATE KEY-----", "q8Wk2Lr9Tz4Xc7Vb" * 4, last, "-----END PRIVATE KEY-----"]
    text = "a\n" + "\n".join(map(line.format, key[: 4 if ends else 3])) + ("\nb\n" if ends else "")
    whole = redactor(NOBODY).text(text)
    assert not leaks(whole, last)
    assert not ends or whole.endswith("\nb\n")
    assert streamed(text, list(range(len(text))), NOBODY) == whole
    assert all(streamed(text, [cut], NOBODY) == whole for cut in range(len(text)))
