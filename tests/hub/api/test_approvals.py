"""What every face says of a request is worded once: five said when it lapses in four ways, and two not at all."""

from __future__ import annotations

from pathlib import PurePath

import attrs
import click

from hub.acp.asking import question
from hub.api.approvals import Approval
from hub.cli.commands.approvals import picture
from hub.cli.terminal.answering import picture as whole
from hub.domain.approval import CUT
from hub.tui.approval import request_rows
from tests.sample import sample

BARE = sample(Approval, action="Bash: make", provider="claude", account="work", context={})
FULL = attrs.evolve(BARE, context={"cut": True}, expires_at="2026-01-01T12:10:00.000Z")


def test_who_asks_is_an_agent_with_its_account():
    assert BARE.who == "claude/work"
    assert attrs.evolve(BARE, account="default").who == "claude"


def test_what_is_not_so_is_not_said():
    assert (BARE.cut, BARE.lapse(str)) == ("", "")
    assert (FULL.cut, FULL.lapse(lambda _: "12:10")) == (CUT, "denied at 12:10 unless it is answered before")


def faces(one: Approval):
    """Each face of a terminal or an editor; the page's is in the tests of its pages."""
    yield click.unstyle(picture(one))
    yield "\n".join(line for told in whole(one) for line in (told.text, *told.below))
    yield "\n".join("".join(piece for piece, _ in row.pieces) for row in request_rows(one))
    yield str(question(one, "d-1:t-1", PurePath("/tree")))


def test_every_face_says_all_of_it():
    for words in faces(FULL):
        assert "claude/work" in words
        assert CUT in words
        assert "unless it is answered before" in words
    for words in faces(BARE):
        assert CUT not in words
        assert "unless it is answered" not in words
