"""The daemon's log on stderr: redacted and plain, tracebacks too."""

from __future__ import annotations

import logging

import pytest

from hub.io.log import PLAIN, scrubbed_log

LOG = logging.getLogger("hub.web")


def hide(text: str) -> str:
    return text.replace("sk-1", "[REDACTED]")


def test_messages_and_tracebacks_are_scrubbed(capsys: pytest.CaptureFixture[str]) -> None:
    """An exception's own words may hold a key or what an agent wrote."""
    with scrubbed_log(hide):
        LOG.error("unforeseen: %s", "sk-1", exc_info=ValueError("sk-1 is wrong"))
    said = capsys.readouterr().err
    assert "sk-1" not in said
    assert "unforeseen: [REDACTED]" in said
    assert "ValueError: [REDACTED] is wrong" in said


def test_what_cannot_be_scrubbed_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: str) -> str:
        raise OSError("the keys cannot be read")

    with scrubbed_log(broken):
        LOG.error("sk-1")
    said = capsys.readouterr().err
    assert "sk-1" not in said
    assert "left out" in said


def test_it_ends_with_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger().handlers)
    with scrubbed_log(hide):
        assert logging.getLogger().handlers != before
    assert logging.getLogger().handlers == before
    assert capsys.readouterr().err == ""


def test_words_of_the_code_alone_need_no_redaction(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a free file nothing can be redacted, and the log said no more than that."""

    def broken(_: str) -> str:
        raise OSError("too many open files")

    with scrubbed_log(broken):
        LOG.warning("no file can be opened", extra={PLAIN: True})
    assert "no file can be opened" in capsys.readouterr().err
