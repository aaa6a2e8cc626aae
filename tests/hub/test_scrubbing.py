"""What is hidden outside the session: by the rules alone until there is a kit, then with all that it knows."""

from types import SimpleNamespace

import pytest

from hub.scrubbing import Scrubbing

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path))


async def test_before_there_is_a_kit_the_rules_hide_and_have_no_name():
    """Also where only known values are asked for: nobody knows one yet."""
    scrubbing = Scrubbing()
    await scrubbing.arm()
    assert await scrubbing.rules() == ""
    for found in (scrubbing.value({"a": [TOKEN]})["a"][0], scrubbing.file(TOKEN), scrubbing.known(TOKEN)):
        assert found.startswith("[REDACTED:")


async def test_with_a_kit_it_is_asked():
    armed = []

    async def arm():
        armed.append(True)

    scrubbing = Scrubbing()
    scrubbing.kit = SimpleNamespace(
        arm=arm,
        rules=lambda: "all",
        scrub_value=lambda value: f"value {value}",
        scrub_file=lambda text: f"file {text}",
        hide_known=lambda text: f"known {text}",
    )
    hiding = scrubbing.hiding()
    assert (scrubbing.value("x"), hiding.text("x"), hiding.known("x")) == ("value x", "file x", "known x")
    assert (await hiding.arm(), armed) == ("all", [True])
