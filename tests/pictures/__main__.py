"""Draws the documents' pictures: `nox -s pictures`.

Owns: the story that is shown, and how a screen becomes a file.
Must not: show anything that a user could not see; the daemon, its agents and the screens are the real ones.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text
from textual.pilot import Pilot

from hub.client.quick import find
from hub.io.models.screenshot import BROWSERS
from hub.providers.demo.story import TASK, VERIFY
from hub.tui.app import HubApp
from tests.faults.harness import Project, project
from tests.hub.tui.kit import sees
from tests.pictures.sources import PICTURES, ROOT, SHOWN, mark
from tests.waiting import until

_COLUMNS = 100
_SIZE = (110, 34)


def main() -> None:
    """Draw all of them."""
    PICTURES.mkdir(exist_ok=True)
    _demo(PICTURES / "../demo.svg")
    with tempfile.TemporaryDirectory(prefix="hub-pictures-") as folder, project(Path(folder)) as work:
        _play(work)
        asyncio.run(_screens(work))
        _page(work)
    mark([*SHOWN])


def _demo(target: Path) -> None:
    """`hub demo` as a terminal shows it."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(_COLUMNS), "TZ": "UTC", "HOME": folder}
        done = subprocess.run(
            [sys.executable, "-m", "hub", "demo"],
            cwd=folder,
            env={**env, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
    said = re.sub(r"\ndiff --git.*?(?=\n\S*handed over in)", "\n", done.stdout, flags=re.DOTALL)
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ hub demo\n{said}"))
    target.write_text(_own_fonts(console.export_svg(title="hub demo")))


def _own_fonts(svg: str) -> str:
    """Without the fonts of another host: a document asks nobody for anything."""
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def _play(work: Project) -> None:
    """Three sessions: one handed over and done, one that wants a word, one that asks."""
    accounts = "".join(
        f'\n[[providers.demo-second.accounts]]\nlabel = "{name}"\n' for name in ("work", "team")
    )
    enabled = "".join(f"\n[providers.demo-{name}]\nenabled = true\n" for name in ("first", "second"))
    work.configure(session="concurrent = 3\n", extra=enabled + accounts)
    api = work.start(HUB_DEMO_PACE="0")
    first = api.post("/api/run", {"task": TASK, "verify": [VERIFY]})["sessionId"]
    until(
        lambda: api.get("/api/status", {"sessionId": first})["sessionState"] == "completed",
        "the first is done",
    )
    for task, *steps in (
        (
            "Cut release 2.4",
            {"say": "The changelog is written, the version is set."},
            {"approve": "npm publish"},
        ),
        ("Port the tests to pytest", {"say": "31 of 48 files are done."}, {"ask": "Keep the old fixtures?"}),
    ):
        work.script("demo-second", *steps)
        work.configure(
            session="concurrent = 3\n", extra=accounts + "\n[providers.demo-first]\nenabled = true\n"
        )
        begun = api.post("/api/run", {"task": task})["sessionId"]
        until(lambda id_=begun: _needs(api, id_), f"{task} waits")


def _needs(api: object, session: str) -> bool:
    rows = api.get("/api/sessions")["sessions"]  # type: ignore[attr-defined]
    return any(row["sessionId"] == session and row["needs"] != "none" for row in rows)


async def _screens(work: Project) -> None:
    app = HubApp(lambda: find(None, work.root), project="shop")
    async with app.run_test(size=_SIZE) as pilot:
        await _drawn(app, pilot, "tui-board.svg", "Needs you (2)", "Done (1)")
        await pilot.press("end", "enter")
        await _drawn(app, pilot, "tui-session.svg", "session completed")


async def _drawn(app: HubApp, pilot: Pilot[None], name: str, *words: str) -> None:
    await sees(app, pilot, *words)
    (PICTURES / name).write_text(_own_fonts(app.export_screenshot(title="hub tui")))


def _page(work: Project) -> None:
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        page = browser.new_page(viewport={"width": 1200, "height": 860}, color_scheme="light")
        page.goto(f"http://127.0.0.1:{work.port}/")
        page.get_by_text("Cut release 2.4").first.wait_for()
        page.screenshot(path=str(PICTURES / "page.png"))
        page.get_by_role("link", name="Write a temperature converter").click()
        page.get_by_text("Tools in time").wait_for()
        page.screenshot(path=str(PICTURES / "page-session.png"))
        browser.close()


if __name__ == "__main__":
    main()
