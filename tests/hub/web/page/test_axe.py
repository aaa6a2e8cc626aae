"""No page keeps anybody out: axe finds nothing serious on any of them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from hub.web.page.paths import PATHS
from tests.agents import program_path
from tests.hub.web.page.conftest import Busy

pytestmark = pytest.mark.agents


@pytest.mark.browser
@pytest.mark.parametrize("name", PATHS)
def test_axe_finds_nothing_serious(busy: Busy, chromium: Browser, name: str):
    """On each page, light and dark, on a phone and a wide window."""
    axe = program_path("axe").read_text()
    found: dict[str, Any] = {}
    for scheme in ("light", "dark"):
        for width in (360, 1440):
            context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(busy.url(name), wait_until="load")
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            page.evaluate(axe)
            for one in page.evaluate("axe.run()")["violations"]:
                if one["impact"] in ("serious", "critical"):
                    found[f"{scheme} {width} {one['id']}"] = [node["html"][:200] for node in one["nodes"][:4]]
            context.close()
    assert found == {}
