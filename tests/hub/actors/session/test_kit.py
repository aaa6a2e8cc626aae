"""What hub knows to be secret is what it is configured with now."""

from __future__ import annotations

import attrs

from tests.hub.actors.session.parts import parts_of


async def test_a_token_of_the_configuration_is_hidden_as_soon_as_it_is_there(two, monkeypatch):
    """The values are kept for a configuration, not for its address: a later one may have the address of one gone."""
    async with parts_of(two, monkeypatch) as parts:
        kit = parts.kit

        def with_token(token):
            return attrs.evolve(kit.config, server=attrs.evolve(kit.config.server, token=token))

        for number in range(4):
            seen, unseen, now = (
                f"{name}-token-{number:04}-of-the-server" for name in ("seen", "unseen", "now")
            )
            kit.config = with_token(seen)
            assert seen not in kit.scrub(f"it is {seen} now")
            address = id(kit.config)
            kit.config = with_token(unseen)
            others = [with_token(now)]
            while id(others[-1]) != address and len(others) < 1000:
                others.append(with_token(now))
            kit.config = others[-1]
            assert now not in kit.scrub(f"it is {now} now")


async def test_every_value_has_one_name(two, monkeypatch):
    """Names and values are two lists; one value too many would shift every name behind it."""
    async with parts_of(two, monkeypatch) as parts:
        values, names = parts.kit._held().named_values()
        assert len(values) == len(names)
        assert len(set(values)) == len(values)
