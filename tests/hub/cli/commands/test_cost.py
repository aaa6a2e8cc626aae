"""`hub cost`: summed up by what is asked for, with a daemon and without one."""

import json

import pytest

from hub.api.costs import Spent
from hub.cli.commands.cost import listed
from tests.hub.cli.command import hub
from tests.sample import sample


def row(day, session, provider, usd, *, priced=True):
    given = {"sessionId": session, "usd": usd, "priced": priced, "tokensIn": 1000, "tokensOut": 10}
    return sample(Spent, day=day, provider=provider, **given)


ROWS = [
    row("2026-01-01", "s-1", "claude", 1.5),
    row("2026-01-01", "s-1", "codex", 0.25),
    row("2026-01-02", "s-2", "claude", None, priced=False),
]


@pytest.mark.parametrize(
    ("by", "lines"),
    [
        ("day", ["2026-01-01  $1.75", "2026-01-02  not known", "all         more than $1.75"]),
        ("agent", ["claude  more than $1.50", "codex   $0.2500", "all     more than $1.75"]),
        ("session", ["s-1      $1.75", "s-2      not known", "all      more than $1.75"]),
    ],
)
def test_it_is_summed_up_by_what_is_asked_for(by, lines):
    found = listed(ROWS, by).splitlines()[1:]
    assert [line[: len(want)] for line, want in zip(found, lines, strict=True)] == lines


def test_nothing_is_said_to_be_nothing():
    assert listed([], "day") == "nothing was used yet"
    assert "all" not in listed(ROWS[:1], "day")


def test_it_is_told_by_the_daemon_and_afterwards_by_the_records(work):
    work.script("demo-first", {"usage": {"tokensIn": 900, "tokensOut": 200}}, {"done": "x"})
    work.configure()
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    alone = json.loads(hub("cost", "--json", cwd=work.root, env=work.environ()).stdout)["spent"]
    assert [(one["provider"], one["tokensIn"], one["tokensOut"]) for one in alone] == [
        ("demo-first", 900, 200)
    ]
    assert (
        hub("cost", "--since", "2999-01-01", cwd=work.root, env=work.environ()).stdout
        == "nothing was used yet\n"
    )
    api = work.start()
    assert api.get("/api/costs")["spent"] == alone
    assert "demo-first" in hub("cost", "--by", "agent", cwd=work.root, env=work.environ()).stdout
