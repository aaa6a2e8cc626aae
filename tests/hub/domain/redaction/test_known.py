"""Known values are hidden in every form, over every cut, and nothing else is held back."""

import base64
import json
import re
import textwrap
from urllib.parse import quote

import pytest

from hub.domain.redaction.known import MIN_LENGTH, forms
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from tests.hub.domain.redaction.kit import (
    ALL_FORMS,
    ANTHROPIC,
    KNOWN,
    MARK,
    ODD,
    leaks,
    redactor,
    streamed,
)


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
        lambda v: base64.b64encode(f"$k='{v}'".encode("utf-16-le")).decode(),  # as PowerShell takes it
        lambda v: base64.b32encode(b"abc" + v.encode()).decode(),
    ],
    ids=range(13),
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
    assert "Zq8" not in repr(KNOWN)
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


def test_a_set_of_values_has_a_name_that_tells_nothing_of_them():
    """What was indexed under it need not be looked at again; another value, or another installation, has another."""
    both = KnownSecrets(["correct-horse-battery", "kY8BE2YUFT1QW"])
    name = both.called(b"installation")
    assert name == KnownSecrets(["kY8BE2YUFT1QW", "correct-horse-battery"]).called(b"installation")
    others = {KnownSecrets(["correct-horse-battery"]).called(b"installation"), both.called(b"another")}
    assert name not in others
    assert len(others | {KnownSecrets().called(b"installation")}) == 3
    assert len(name) == 16


def test_what_began_before_the_place_that_is_asked_about_is_not_held_again():
    """Only what may begin at the place itself is: a letter of the value."""
    known, text = KnownSecrets(["hunter2hunter2"]), "hunter\n2hunt"
    assert known.begun(text) == known.scan(text, 0, final=False)[1] == 0
    assert known.scan(text, len(text) - 1, final=False) == ([], len(text) - 1)


def test_where_nothing_is_known_nothing_has_begun():
    assert KnownSecrets().begun("hunter2") == len("hunter2")
