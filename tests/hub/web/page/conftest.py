"""A real Chromium, and a real daemon whose page it shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from hub.io.screenshot import BROWSERS
from tests.faults.harness import Project, project

PROGRAM = next(filter(None, map(shutil.which, BROWSERS)), "")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's; nothing is downloaded."""
    if not PROGRAM:
        pytest.skip("no Chromium is installed")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        names = "--host-resolver-rules=MAP evil.test 127.0.0.1"  # a foreign name that leads to this machine
        browser = driver.chromium.launch(executable_path=PROGRAM, args=[*sandbox, names])
        yield browser
        browser.close()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Project]:
    """A project whose daemon is not started yet."""
    with project(tmp_path) as found:
        yield found


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
