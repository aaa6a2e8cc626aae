"""Ten thousand events, a daemon that is killed in the middle, and none of them lost or doubled."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack

from hub.client.quick import find
from hub.errors import HubError
from hub.tui.link import Link, LinkStanding
from tests.waiting import until

MANY = 5000


class Heard:
    """What a link tells."""

    def __init__(self, root):
        self.ids: list[int] = []
        self.standings: list[LinkStanding] = []
        self.errors: list[HubError] = []
        self.ended = threading.Event()
        self.link = Link(lambda: find(None, root), self.take, self.told)

    def take(self, batch):
        self.ids += [record["id"] for record in batch]
        if any(record.get("meta", {}).get("ended") for record in batch):
            self.ended.set()

    def told(self, standing, error):
        if self.standings[-1:] != [standing]:
            self.standings.append(standing)
        if error is not None:
            self.errors.append(error)

    def __enter__(self):
        self.link.open()
        return self

    def __exit__(self, *_):
        self.link.close(30)


CLIENT = """
import sys, time
from pathlib import Path
from hub.client.quick import find
from hub.tui.link import Link

def take(batch):
    print(*(record["id"] for record in batch), sep="\\n", flush=True)

Link(lambda: find(None, Path(sys.argv[1])), take, lambda *_: None).open()
time.sleep(600)
"""


class Client:
    """A link in a process of its own, which can be killed."""

    def __init__(self, work, name):
        self.out = work.root.parent / name
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CLIENT, str(work.root)], env=work.environ(), stdout=out
            )

    @property
    def ids(self):
        return [int(line) for line in self.out.read_text().split("\n")[:-1]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def test_ten_thousand_events_over_a_killed_daemon_and_a_killed_client_none_lost_none_doubled(work):
    """The agent works on under its runner; the next daemon has all it said, on another port; so has the next client."""
    halves = (
        {"say": "one of many", "times": MANY},
        {"run": "true"},
        {"say": "one of many more", "times": MANY},
    )
    work.script("demo-first", *halves, {"done": "finished"})
    work.configure()
    api = work.start()
    with Heard(work.root) as heard, Client(work, "first") as killed, ExitStack() as later:
        until(lambda: heard.standings == [LinkStanding.UP], "it is connected")
        api.post("/api/run", {"task": "say a lot"})
        until(lambda: len(heard.ids) > MANY // 2 and killed.ids, "it is in the middle of it")
        killed.process.kill()
        again = later.enter_context(Client(work, "second"))
        until(lambda: again.ids, "the next client has begun")
        work.kill()
        until(lambda: heard.standings[-1] is LinkStanding.AWAY, "it says that the daemon is away")
        work.start()
        assert heard.ended.wait(120)
        kept = [event["id"] for event in work.events()]
        until(lambda: len(heard.ids) >= len(kept), "the last of them have come")
        until(lambda: again.ids[-1] == kept[-1], "to the next client too")
        assert again.ids == kept[-len(again.ids) :], "from where it began"
    assert killed.ids == kept[kept.index(killed.ids[0]) :][: len(killed.ids)]
    assert len(kept) > 2 * MANY
    assert heard.ids == kept
    assert heard.standings == [LinkStanding.UP, LinkStanding.AWAY, LinkStanding.UP]


def test_who_comes_late_has_the_end_of_the_log_and_goes_on(work):
    work.script("demo-first", {"say": "a word"}, {"done": "finished"})
    work.configure()
    api = work.start()
    api.post("/api/run", {"task": "first"})
    until(work.ended, "the session is over")
    with Heard(work.root) as heard:
        until(heard.ended.is_set, "the past has come")
        past = len(heard.ids)
        heard.ended.clear()
        api.post("/api/run", {"task": "second"})
        assert heard.ended.wait(60)
    assert len(heard.ids) > past
    assert heard.ids == list(range(1, len(heard.ids) + 1))


def test_without_a_daemon_it_looks_and_can_be_closed(work):
    with Heard(work.root) as heard:
        until(lambda: heard.errors, "it says that there is none")
    assert heard.standings == [LinkStanding.LOOKING]
    assert not heard.link._thread.is_alive()


def test_a_link_that_was_never_opened_can_be_closed(work):
    Heard(work.root).link.close()
