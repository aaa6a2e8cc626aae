"""What the user changes: in the right file, whole, on record, and no value of a key anywhere else."""

import stat

import pytest

from hub.api.providers import Chosen
from hub.errors import Code, HubError
from hub.io.secrets.dotenv import read_env
from hub.messages.settings import GetConfig, PatchProvider, ProvidersConfigured, SetKey
from hub.providers.registry import load_all
from tests.hub.actors.settings.actor import settings
from tests.refusals import refuses

SECRET = "sk-ant-api03-wonderful"  # a key like any other
TEXT = """# ours
[providers.claude]   # the good one
model = "x" # big

[session]
threshold = 0.8
"""


async def test_a_patch_is_written_and_in_force_at_once(places, config, clock):
    config.write_text(TEXT)
    async with settings(places, clock, load_all()) as ask:
        told = await ask(PatchProvider("claude", {"model": "y", "enabled": False, "declaredCap": 5}))
        assert told == Chosen(name="claude", enabled=False, declared_cap=5, model="y", base_url="")
        assert (await ask(GetConfig())).provider("claude").model == "y"
        assert config.read_text() == TEXT.replace('"x" # big', '"y" # big\nenabled = false\ndeclaredCap = 5')
        assert [record.msg for record in await ask.said()] == [
            "claude was configured: declaredCap, enabled, model"
        ]
        assert await ask.recorded() == ["provider_configured"]


async def test_a_patch_of_nobody_or_of_a_broken_file_changes_nothing(places, config, clock):
    config.write_text("[server\n")
    async with settings(places, clock) as ask:
        for order, code in (
            (PatchProvider("nobody", {"model": "y"}), Code.NOT_FOUND),
            (PatchProvider("demo-first", {"model": "y"}), Code.CONFIG_INVALID),
        ):
            with refuses(code):
                await ask(order)
        assert await ask.recorded() == []
    assert config.read_text() == "[server\n"


async def test_every_problem_of_a_broken_file_is_told_at_once(places, config, clock):
    """With the place and what is allowed there."""
    config.write_text("[session]\nonLimit = 'never'\nthreshold = 7\n")
    async with settings(places, clock) as ask:
        with pytest.raises(HubError) as caught:
            await ask(PatchProvider("demo-first", {"model": "y"}))
    problems = {e["path"]: (e["line"], e["message"]) for e in caught.value.extra["errors"]}
    assert problems == {
        "session.onLimit": (2, 'must be one of "handoff", "wait", "stop", not this string'),
        "session.threshold": (3, "must be a number above 0 and at most 1, not 7"),
    }


@pytest.mark.parametrize(
    ("name", "variable"), [("claude", "ANTHROPIC_API_KEY"), ("OPENAI_API_KEY", "OPENAI_API_KEY")]
)
async def test_a_key_is_kept_and_never_told(places, clock, name, variable):
    """Allow-listed, 0600, nowhere but in .hub/.env."""
    async with settings(places, clock, load_all()) as ask:
        told = await ask(SetKey(name, SECRET))
        assert (told.name, told.set) == (variable, True)
        assert read_env(places.dotenv, [variable]) == {variable: SECRET}
        assert stat.S_IMODE(places.dotenv.stat().st_mode) == 0o600
        entry = next(e for e in await ask(ProvidersConfigured()) if e.name == told.provider)
        assert (entry.auth.logged_in, entry.auth.method) == (True, "key")
        assert (await ask(SetKey(name, ""))).set is False
        assert read_env(places.dotenv, [variable]) == {}
        assert await ask.recorded() == ["key_set", "key_removed"]
        assert SECRET not in repr([told, entry, await ask.said(), SetKey(name, SECRET)])
    kept = [
        path for path in places.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert kept == []


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("LD_PRELOAD", "/x.so", "ANTHROPIC_API_KEY"),
        ("A=1\nB", "x", "ANTHROPIC_API_KEY"),
        ("PATH", "/x", "ANTHROPIC_API_KEY"),
        ("demo-first", "x", "takes no key"),
        ("claude", "x\ny", "one line of ASCII"),
        ("claude", "x\0y", "one line of ASCII"),
    ],
)
async def test_a_name_or_value_that_is_not_allowed_is_refused(places, clock, name, value, says):
    async with settings(places, clock, load_all()) as ask:
        with refuses(Code.INVALID) as caught:
            await ask(SetKey(name, value))
    assert says in caught.value.detail + caught.value.hint
    assert value not in caught.value.detail
    assert not places.dotenv.exists()
