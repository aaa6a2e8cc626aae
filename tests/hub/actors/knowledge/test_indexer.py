"""Runs of the indexer: one at a time, and each with its own haste."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from hub.actors.common.secrets import HidingRules
from hub.actors.knowledge.indexer import RULES, Indexer
from hub.api.graph import IndexState
from hub.io.graph.facts import counts, note
from hub.io.graph.store import GraphStore


def hiding(hide=str, name=lambda: "rules"):
    async def arm():
        """Nothing is to be made ready."""

    return SimpleNamespace(rules=lambda: HidingRules(name(), hide), arm=arm)


@pytest.fixture
def root(tmp_path):
    found = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", found], check=True)
    (found / "a.py").write_text("def alpha(): ...\n")
    return found


@pytest.fixture
def store(tmp_path):
    found = GraphStore.open(tmp_path / "graph.db")
    yield found
    found.close()


async def test_who_asks_while_the_end_is_told_gets_a_run_of_his_own_with_its_haste(root, store):
    """The line of one run's end is awaited: the next may begin meanwhile, and its haste was once taken from it."""
    told, begun = [], []

    async def say(line):
        if not told:
            begun.append(indexer.ask(eager=True))
        told.append(line)

    indexer = Indexer(root, lambda: 1.0, hiding(), say)
    assert indexer.ask(eager=True) is True
    await indexer.run(store)
    assert (begun, indexer.running, indexer.eager) == ([True], True, True)
    await indexer.run(store)
    assert (indexer.running, indexer.eager, indexer.state) == (False, False, IndexState.READY)
    assert [line.split(":")[0] for line in told] == ["indexed the code"] * 2


async def test_a_run_that_is_asked_for_again_is_one_run_of_two_passes(root, store):
    """It is told of once, with the files of both; nobody starts a second one beside it."""
    told, begun = [], []

    def scrub(text):
        if not begun:
            (root / "b.py").write_text("def beta(): ...\n")
            begun.append(indexer.ask())
        return text

    async def say(line):
        told.append(line)

    indexer = Indexer(root, lambda: 1.0, hiding(scrub), say)
    assert indexer.ask(eager=True) is True
    await indexer.run(store)
    assert begun == [False]
    assert store.read(counts).files == 2
    assert len(told) == 1
    assert (indexer.running, indexer.wanted, indexer.eager) == (False, False, False)


async def test_a_pass_that_failed_is_followed_by_the_one_that_was_asked_for_meanwhile(root, store):
    """Its error is told; what stands in the end is how the last pass ended."""
    told, hidden = [], root / "hidden"

    async def say(line):
        told.append(line)
        if hidden.exists():
            hidden.rename(root / ".git")
            assert indexer.ask() is False

    (root / ".git").rename(hidden)
    indexer = Indexer(root, lambda: 1.0, hiding(), say)
    indexer.ask()
    await indexer.run(store)
    assert (indexer.state, indexer.error, len(told)) == (IndexState.READY, "", 1)
    assert store.read(counts).files == 1


async def test_what_other_rules_have_been_through_is_read_again(root, store):
    """A text that was hidden by an older hub's rules, or without the engine, is not believed to be clean."""
    read = []
    os.utime(root / "a.py", (1, 1))  # long enough ago to be known again

    async def say(line):
        """Nobody listens."""

    for rules in ("old", "old", "new"):
        indexer = Indexer(root, lambda: 1.0, hiding(lambda text: read.append(text) or text, rules.lower), say)
        indexer.ask(eager=True)
        await indexer.run(store)
        assert (store.read(note, RULES), store.read(counts).files) == (rules, 1)
    assert len(read) == 2
