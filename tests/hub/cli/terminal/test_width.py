"""Lines that are wider than the terminal, and where none is broken."""

from itertools import pairwise

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.api.history import HistoryEntry
from hub.cli.commands import status
from hub.cli.terminal.table import table
from hub.cli.terminal.timeline import pictures
from hub.cli.terminal.width import advice, columns, hung, visible
from tests.sample import sample


def test_a_line_goes_on_below_its_words():
    """On 40 columns `hub detect` and `hub logs` ran on at the left edge, in the middle of words."""
    line = f"  {click.style('folder', dim=True)}  a folder with a long name and more of it"
    assert click.unstyle(hung(line, 30, 10)).splitlines() == [
        "  folder  a folder with a long",
        "          name and more of it",
    ]


def test_what_is_to_be_copied_stays_whole():
    """A path wider than the terminal is broken by the terminal, which copies it in one piece."""
    path = "/home/somebody/projects/a-long-name"
    assert hung(f"folder  {path} here", 20, 4).splitlines() == ["folder", f"    {path}", "    here"]


def test_without_a_terminal_nothing_is_broken(tmp_path):
    """What a program reads has its lines."""
    with (tmp_path / "out").open("w") as out:
        assert columns(out) == 0
    assert hung("a b " * 100, 0, 4) == "a b " * 100


def test_a_status_is_broken_between_words(monkeypatch):
    """On 40 columns `hub status` was broken by the terminal, in the middle of words."""
    monkeypatch.setattr(status, "columns", lambda _: 40)
    known = sample(
        status.WholeStatus,
        taskGoal="x",
        sessionId="s-1",
        hfsScore=97.0,
        handoffsDone=1,
        pipeline=None,
        cost=None,
        audit=None,
    )
    told = status.picture(known).splitlines()
    assert [line for line in told if line.startswith("handoffs")] == ["handoffs  1  fidelity 97 of 100: how"]
    assert "          much of the goal, the changes," in told


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1), st.integers(20, 60), st.integers(0, 8))
def test_every_word_is_there_and_no_line_is_too_wide(words, width, hang):
    broken = hung(" ".join(words), width, hang)
    assert broken.split() == words
    assert all(visible(line) <= width for line in broken.splitlines())


def test_a_table_that_is_too_wide_is_told_row_by_row():
    """Its columns stood anywhere once the terminal had broken them."""
    rows = [("claude", "not installed", ""), ("codex", "ready", "hub install codex")]
    drawn = click.unstyle(table(("AGENT", "STATE", "NEXT"), rows, ("red", None), width=24))
    assert drawn.splitlines() == [
        "claude",
        "  state  not installed",
        "",
        "codex",
        "  state  ready",
        "  next   hub install",
        "         codex",
    ]
    assert len(click.unstyle(table(("AGENT", "STATE", "NEXT"), rows, width=200)).splitlines()) == 3


@pytest.mark.parametrize("width", [40, 60, 200])
def test_a_handoffs_picture_fits(width):
    states = ["RUNNING", "PAUSING", "SNAPSHOTTED", "ENVELOPE_BUILT", "DISPATCHED", "RESUMING", "RUNNING"]
    rows = [
        sample(
            HistoryEntry,
            event="handoff",
            ts=f"2026-01-02T03:04:0{at}.000Z",
            move={"source": one, "target": two, "reason": "limit"},
        )
        for at, (one, two) in enumerate(pairwise(states))
    ]
    bars = [line for line in map(click.unstyle, pictures(rows, width)) if "|" in line]
    assert len(bars) == 5
    assert {len(bar) for bar in bars} == {min(width, 66)}


def test_the_command_of_a_next_step_is_never_broken():
    """It is to be copied; what is not a command is broken at its words."""
    step = "Commit it, then try again; or keep the result apart: hub take --branch <name>"
    assert advice(step, 120, 5) == f"     {step}"
    assert advice(step, 0, 5) == f"     {step}"
    assert advice(step, 40, 5).splitlines() == [
        "     Commit it, then try again; or keep",
        "     the result apart:",
        "       hub take --branch <name>",
    ]
    assert advice("Correct the owner or mode of it.", 30, 5).splitlines() == [
        "     Correct the owner or mode",
        "     of it.",
    ]
