"""What a page costs: until its first words are seen, and what is sent for it.

A real Chromium, headless, a new context for each look, so that nothing is cached; the daemon has shown a page before, as it
has but once.
Peer: the same browser and an empty document from a server of Python's own.
"""

from __future__ import annotations

import gzip
import http.server
import os
import shutil
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Response, sync_playwright

from hub.io.models.screenshot import BROWSERS
from tests.bench.table import Row, at_least, run
from tests.faults.harness import Project, project, until

LOOKS = 15
PAGES = ("/", "/session/{session}", "/quota")
PAINTED = """() => new Promise(said => new PerformanceObserver(list => {
  for (const one of list.getEntries()) if (one.name === "first-contentful-paint") said(one.startTime);
}).observe({type: "paint", buffered: true}))"""


class Empty(http.server.BaseHTTPRequestHandler):
    """One word."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>x</title><p>x")

    def log_message(self, *_: object) -> None:
        pass


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """First contentful paint and weight."""
    program = next(filter(None, map(shutil.which, BROWSERS)), "")
    if not program:
        return
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    looks = at_least(2, LOOKS, scale)
    with project(folder) as work, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=sandbox)
        session = _worked(work)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as peer:
            threading.Thread(target=peer.serve_forever, daemon=True).start()
            empty = f"http://127.0.0.1:{peer.server_address[1]}/"
            for path in PAGES:
                url = f"http://127.0.0.1:{work.port}{path.format(session=session)}"
                shown = [(_painted(browser, url), _painted(browser, empty)) for _ in range(looks)]
                hub, least = (statistics.median(side) for side in zip(*shown, strict=True))
                name = path.partition("{")[0]
                yield Row(f"first contentful paint of `{name}`", hub, "ms", "<= 600", "an empty page", least)
                yield Row(f"`{name}` and its files, compressed", _weight(browser, url), "kB", "<= 60")
            peer.shutdown()
        browser.close()


def _worked(work: Project) -> str:
    """A session that has said something and handed over."""
    work.script(
        "demo-first",
        *({"say": f"I do **part {n}** of it."} for n in range(100)),
        {"limit": {"resetsIn": 3600}},
    )
    work.script("demo-second", {"write": {"path": "a.txt", "text": "a\n" * 100}}, {"say": "done"})
    work.configure()
    session = str(work.start().post("/api/run", {"task": "Write it."})["sessionId"])
    until(work.ended, "the session ends")
    return session


def _painted(browser: Browser, url: str) -> float:
    """Milliseconds from the beginning of the navigation until the first words are painted."""
    page = browser.new_page()
    page.goto(url, wait_until="load")
    painted = float(page.evaluate(PAINTED))
    page.close()
    return painted


def _weight(browser: Browser, url: str) -> float:
    page = browser.new_page()
    answers: list[Response] = []
    page.on("response", lambda response: answers.append(response))  # noqa: PLW0108  # Playwright marks what it is given
    page.goto(url, wait_until="load")
    weight = sum(len(gzip.compress(one.body())) for one in tuple(answers) if one.status == 200)
    page.close()
    return weight / 1000


if __name__ == "__main__":
    run(rows)
