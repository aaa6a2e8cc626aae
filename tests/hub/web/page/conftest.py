"""A real Chromium, and a real daemon whose pages it shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from hub.io.models.screenshot import BROWSERS
from hub.web.page.paths import PATHS
from tests.faults.harness import Project, git, project, until
from tests.waiting import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)  # its own five seconds are about nothing

PROGRAM = next(filter(None, map(shutil.which, BROWSERS)), "")


@contextmanager
def launched() -> Iterator[Browser]:
    """The system's; nothing is downloaded. To be used by the thread that launches it."""
    if not PROGRAM:
        pytest.skip("no Chromium is installed")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        names = "--host-resolver-rules=MAP evil.test 127.0.0.1"  # a foreign name that leads to this machine
        browser = driver.chromium.launch(executable_path=PROGRAM, args=[*sandbox, names])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A module's alone: while it is there no other test can have an asyncio loop."""
    with launched() as browser:
        yield browser


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Page]:
    """A tab of its own; what the page's script or its policy objects to fails the test."""
    context = chromium.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "console",
        lambda message: said.append(message.text) if "Content Security Policy" in message.text else None,
    )
    yield page
    context.close()
    assert said == []


NASTY = '<script>document.body.dataset.owned = 1</script><img src=x onerror="document.body.dataset.owned = 1"> [x](javascript:alert(1)) \x1b]0;x\x07'


@attrs.frozen
class Busy:
    """A daemon with something on each page."""

    work: Project
    session: str

    def url(self, name: str) -> str:
        path = PATHS[name].replace("<sessionId>", self.session)
        return f"http://127.0.0.1:{self.work.port}{path}"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Busy]:
    """A session that has ended, one that was handed over, one that waits for a person's word, a pipeline, and hostile words everywhere."""
    with project(tmp_path_factory.mktemp("busy")) as work:
        nasty = work.root / "<img src=x onerror=alert(1)>.py"
        nasty.write_text(f'"""{NASTY}"""\n\n\ndef converted() -> None: ...\n' + "x" * 30_000 + "\n")
        git(work.root, "add", ".")
        git(work.root, "commit", "-q", "-m", NASTY)
        work.script(
            "demo-first",
            {"plan": {"items": [NASTY, "b"], "left": [NASTY]}},
            {"say": NASTY + "\n\n# A title\n\n- a\n- `b`\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
            {"write": {"path": "<b>a.txt", "text": f"{NASTY}\n" * 3}},
            {"say": "y" * 30_000},
            {"quota": {"used": 0.5}},
            {"limit": {"resetsIn": 3600}},
        )
        work.script(
            "demo-second", {"write": {"path": "before.txt", "text": "\n"}}, {"done": "An earlier session."}
        )
        work.configure()
        api = work.start()
        api.post("/api/run", {"task": "Something else", "provider": "demo-second"})
        until(work.ended, "an earlier session has left a snapshot")
        work.script("demo-second", {"say": "I go on."}, {"approve": f"rm -rf {NASTY}"})
        api.post(
            "/api/pipelines",
            [  # type: ignore[arg-type]
                {
                    "name": "two",
                    "nodes": [
                        {"id": "a", "provider": "demo-second", "task": NASTY[:50]},
                        {"id": "b<i>", "provider": "demo-second", "task": "x", "dependsOn": ["a"]},
                    ],
                }
            ],
        )
        session = api.post("/api/run", {"task": f"Do {NASTY}"})["sessionId"]
        until(lambda: api.get("/api/approvals"), "it waits for a word")
        yield Busy(work, session)
