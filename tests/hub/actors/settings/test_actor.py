"""The settings actor: a changed file is read again, a bad one is refused with its place."""

from hub.errors import Code
from hub.messages.settings import GetConfig, ProvidersConfigured
from tests.hub.actors.settings.actor import settings
from tests.refusals import refuses


async def test_a_changed_file_is_read_again(places, config, clock):
    async with settings(places, clock) as ask:
        assert (await ask(GetConfig())).session.max_handoffs == 5
        config.write_text("[session]\nmaxHandoffs = 7\n")
        assert (await ask(GetConfig())).session.max_handoffs == 7
        config.unlink()
        assert (await ask(GetConfig())).session.max_handoffs == 5


async def test_an_unchanged_file_is_not_read_again(places, config, clock):
    """Kit and redactor know a configuration by its identity."""
    config.write_text("[session]\nmaxHandoffs = 7\n")
    async with settings(places, clock) as ask:
        assert await ask(GetConfig()) is await ask(GetConfig())


async def test_a_bad_file_is_refused_with_its_place_until_it_is_mended(places, config, clock):
    async with settings(places, clock) as ask:
        await ask(GetConfig())
        config.write_text("[session]\nmaxHandoffs = 'many'\n")
        for _ in range(2):
            with refuses(Code.CONFIG_INVALID, "hub.toml:2"):
                await ask(GetConfig())
        config.write_text("[session]\nmaxHandoffs = 1\n")
        assert (await ask(GetConfig())).session.max_handoffs == 1


async def test_what_a_provider_is_configured_to(places, config, clock):
    """Enabled, install, auth, capabilities, probe, accounts with the active one named."""
    accounts = '[[providers.demo-first.accounts]]\nlabel = "a"\n[[providers.demo-first.accounts]]\nlabel = "b"\nactive = true\n'
    config.write_text(f'[providers.demo-first]\nenabled = true\nmodel = "m-1"\n{accounts}')
    async with settings(places, clock) as ask:
        first, second = await ask(ProvidersConfigured())
    assert (first.name, first.enabled, first.model) == ("demo-first", True, "m-1")
    assert second.enabled is False
    assert first.install.installed is True
    assert first.probe.ok is True
    assert first.active_account == "b"
    assert [(a.label, a.active) for a in first.accounts] == [("b", True), ("a", False)]
    assert first.capabilities["replies"] is True


async def test_a_program_that_is_not_there_or_fails_is_an_answer(places, config, clock, tmp_path):
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\nexit 3\n")
    bad.chmod(0o700)
    config.write_text(
        f'[providers.demo-first]\nprogram = "/not/there"\n[providers.demo-second]\nprogram = "{bad}"\n'
    )
    async with settings(places, clock) as ask:
        first, second = await ask(ProvidersConfigured())
    assert (first.install.installed, first.probe.detail) == (False, "not installed")
    assert (second.install.installed, second.probe.ok) == (True, False)
