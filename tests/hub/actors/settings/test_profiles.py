"""Profiles over the settings actor: stored ones are changed, those of `hub.toml` stay, sessions see all of them."""

import stat

import pytest

from hub.api.convert import unstructure
from hub.errors import Code
from hub.io.files.sealed import write_sealed
from hub.messages.settings import GetConfig, GetProfiles, GetVision, PatchVision, PutProfile, RemoveProfile
from tests.hub.actors.settings.actor import settings
from tests.refusals import refusal

FAST = {
    "name": "fast",
    "chain": ["demo-second"],
    "kinds": [],
    "skills": ["tdd"],
    "contextHint": "be brief\n\x1b",
}


async def test_a_profile_is_stored_changed_used_and_deleted(places, config, clock):
    config.write_text('[[profiles]]\nname = "deep"\nchain = ["demo-first"]\n')
    async with settings(places, clock) as ask:
        assert unstructure(await ask(PutProfile(FAST))) == {"ok": True, "deleted": False, **FAST}
        assert [profile.name for profile in await ask(GetProfiles())] == ["deep", "fast"]
        assert (await ask(GetConfig())).profile("fast").chain == ("demo-second",)
        await ask(PutProfile({**FAST, "chain": ["demo-first"]}))
        assert (await ask(GetConfig())).profile("fast").chain == ("demo-first",)
        assert stat.S_IMODE(places.profiles.stat().st_mode) == 0o600
        done = await ask(RemoveProfile("fast"))
        assert unstructure(done) == {"ok": True, "deleted": True, "name": "fast"}
        assert [profile.name for profile in await ask(GetProfiles())] == ["deep"]
        await refusal(ask(RemoveProfile("deep")), Code.INVALID)
        await refusal(ask(RemoveProfile("fast")), Code.NOT_FOUND)
        assert await ask.recorded() == ["profile_stored", "profile_stored", "profile_deleted"]
        assert [record.msg for record in await ask.said()][-1] == "the profile fast was deleted"
    assert config.read_text() == '[[profiles]]\nname = "deep"\nchain = ["demo-first"]\n'


async def test_stored_profiles_outlive_the_daemon(places, clock):
    async with settings(places, clock) as ask:
        await ask(PutProfile(FAST))
    async with settings(places, clock) as ask:
        assert unstructure(await ask(GetProfiles())) == [FAST]


async def test_a_bad_profile_changes_nothing(places, clock):
    async with settings(places, clock) as ask:
        await ask(PutProfile(FAST))
        before = places.profiles.read_bytes()
        error = await refusal(ask(PutProfile({"name": "x", "chain": ["nobody"]})), Code.INVALID)
        assert error.extra["errors"][0]["path"] == "$.chain[0]"
        assert places.profiles.read_bytes() == before


@pytest.mark.parametrize("damage", [b"\xff", b"[[profiles]]\nname = 1\n", b"not toml"])
@pytest.mark.parametrize("code", [Code.STATE_CORRUPT, Code.NOT_SEALED])
async def test_a_damaged_file_is_told_kept_aside_and_keeps_nothing_else_from_working(
    places, clock, damage, code
):
    places.profiles.write_bytes(damage)
    if code is Code.STATE_CORRUPT:
        write_sealed(places.profiles, damage)
    damage = places.profiles.read_bytes()
    async with settings(places, clock) as ask:
        await ask(GetConfig())
        await refusal(ask(GetProfiles()), code)
        await ask(PutProfile(FAST))
        assert unstructure(await ask(GetProfiles())) == [FAST]
    (aside,) = places.hub_dir.glob("profiles.toml.corrupt-*")
    assert aside.read_bytes() == damage


async def test_vision_is_configured_and_comments_stay(places, config, clock):
    config.write_text("# mine\n[vision]\nmodel = 'a' # why\n")
    async with settings(places, clock) as ask:
        changed = await ask(
            PatchVision({"enabled": True, "maxPixels": 1000, "baseUrl": "http://127.0.0.1:1"})
        )
        found = unstructure(await ask(GetVision()))
        assert unstructure(changed) == {"ok": True, **found}
        assert found == {
            "enabled": True, "provider": "", "model": "a", "baseUrl": "http://127.0.0.1:1", "maxPixels": 1000,
        }  # fmt: skip
        await ask(PatchVision({"model": None}))
        assert (await ask(GetVision())).model == ""
        await refusal(ask(PatchVision({"maxPixels": 0})), Code.CONFIG_INVALID)
        assert await ask.recorded() == ["vision_configured", "vision_configured"]
    assert config.read_text().startswith("# mine\n[vision]\n")
