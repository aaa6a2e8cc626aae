"""Canaries: every key hub holds, in every form, planted wherever an agent can put it; no sink may show one.

Security R4; the sinks are those of `tests/security/wiretap.py`, and what an agent is started with; none is the keys' own file.
"""

from __future__ import annotations

import base64
import json
import urllib.parse

import attrs
import pytest

from hub.io.project.places import load_or_create_key
from hub.messages.session import StartRun
from tests.faults.harness import project
from tests.security.wiretap import sinks

API_KEY = "canary-key/4f9A+z0=x7"
ACCOUNT_TOKEN = "tok-account-93hf7fj2kd"
DOTENV_KEY = "dotenv-0a8s7d6f5g4h3j2k"


def forms(value: bytes) -> dict[str, str]:
    """The ways an agent may write a value down."""
    found = {
        "base64": base64.b64encode(value).decode(),
        "base64 behind a byte": base64.b64encode(b"x" + value).decode()[2 : (1 + len(value)) * 8 // 6],
        "hex": value.hex(),
        "HEX": value.hex().upper(),
    }
    try:
        text = value.decode("ascii")
    except UnicodeDecodeError:
        return found
    return {
        **found,
        "raw": text,
        "reversed": text[::-1],
        "url": urllib.parse.quote(text, safe=""),
        "json": json.dumps(text)[1:-1],
    }


@attrs.define
class Trap:
    """A project whose agents know everything."""

    made: object
    canaries: dict[str, str]

    def seen_in(self, where: str, text: str) -> list[str]:
        """Which canaries stand in the text."""
        return [f"{name} in {where}" for name, form in self.canaries.items() if form in text]


@pytest.fixture
def trap(tmp_path, monkeypatch):
    with project(tmp_path) as made:
        for name, value in made.environ().items():
            monkeypatch.setenv(name, value)
        keys = {name: load_or_create_key(name) for name in ("contract", "redaction", "audit")}
        values = {
            **keys,
            "api": API_KEY.encode(),
            "account": ACCOUNT_TOKEN.encode(),
            "file": DOTENV_KEY.encode(),
        }
        canaries = {
            f"{title} as {kind}": form
            for title, value in values.items()
            for kind, form in forms(value).items()
        }
        lines = list(canaries.values())
        script = [
            *({"say": f"the key is {line} and that is all"} for line in lines),
            *({"think": line} for line in lines),
            {"say": " ".join(lines)},
            *({"write": {"path": f"f{n}.txt", "text": line}} for n, line in enumerate(lines[:4])),
            *({"run": f"echo '{line}'; echo '{line}' >&2; exit 3"} for line in lines[::4]),
            {"raw": f"no JSON at all: {lines[0]}"},
            {"raw": json.dumps({"type": "text", "text": f"\u001b]0;{lines[1]}\u0007 \ud800 {lines[1]}"})},
        ]
        made.script("demo-first", *script, {"limit": {"resetsIn": 3600, "text": lines[0]}})
        errors = {"run": f"echo '{' '.join(lines)}' > /proc/$PPID/fd/2"}
        made.script("demo-second", *script, errors, {"ask": f"is {lines[2]} right?"}, {"crash": 3})
        table = "[providers.{0}.env]\nDEMO_API_KEY = {1}\n[[providers.{0}.accounts]]\nlabel = 'a'\nenv = {{ DEMO_TOKEN = {2} }}\n"
        made.configure(
            "".join(
                table.format(name, json.dumps(API_KEY), json.dumps(ACCOUNT_TOKEN))
                for name in ("demo-first", "demo-second")
            )
        )
        (made.root / ".hub").mkdir(mode=0o700)
        (made.root / ".hub" / ".env").write_text(f"ANTHROPIC_API_KEY={DOTENV_KEY}\n")
        (made.root / ".hub" / ".env").chmod(0o600)
        yield Trap(made, canaries)


async def test_no_key_of_hub_reaches_any_sink(trap, monkeypatch, caplog):
    made = trap.made
    order = StartRun("write", verify=["cat f*.txt; false"])
    told = await sinks(made, monkeypatch, caplog, order, "yes", but=[".env"])
    for path in (made.hub / "run").glob("*/assignment.json"):
        told[f"{path.parent.name}'s assignment"] = path.read_text()
    assert [leak for where, data in told.items() for leak in trap.seen_in(where, data)] == []
    assert "[REDACTED:" in told["the socket"]
    assert "contract-key" in json.loads(told["/api/redactions"])["summary"]
