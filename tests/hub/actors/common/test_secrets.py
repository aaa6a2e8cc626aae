"""What hub knows to be secret is what it is configured with now."""

import attrs
import pytest

from hub.domain.redaction import literals
from tests.hub.actors.session.conftest import two
from tests.hub.actors.session.parts import parts_of

__all__ = ["two"]


async def test_a_token_of_the_configuration_is_hidden_as_soon_as_it_is_there(two, monkeypatch):
    """The values are kept for a configuration, not for its address: a later one may have the address of one gone."""
    async with parts_of(two, monkeypatch) as parts:
        context = parts.context

        def with_token(token):
            return attrs.evolve(context.config, server=attrs.evolve(context.config.server, token=token))

        for number in range(4):
            seen, unseen, now = (
                f"{name}-token-{number:04}-of-the-server" for name in ("seen", "unseen", "now")
            )
            context.config = with_token(seen)
            assert seen not in context.secrets.text(f"it is {seen} now")
            address = id(context.config)
            context.config = with_token(unseen)
            others = [with_token(now)]
            while id(others[-1]) != address and len(others) < 1000:
                others.append(with_token(now))
            context.config = others[-1]
            assert now not in context.secrets.text(f"it is {now} now")


async def test_every_value_has_one_name(two, monkeypatch):
    """Names and values are two lists; one value too many would shift every name behind it."""
    async with parts_of(two, monkeypatch) as parts:
        secrets = parts.context.secrets
        values, names = secrets._named_values(secrets.config())
        assert len(values) == len(names)
        assert len(set(values)) == len(values)


async def test_whoever_knows_the_same_shares_it(two, monkeypatch):
    """Built anew for each session, it took 17 ms of the event loop at each one's start, and 1.5 MB until its end."""
    async with parts_of(two, monkeypatch) as parts:
        assert parts.context.secrets.known() is parts.live.daemon.app.secrets.known()


async def test_once_armed_nothing_is_compiled_for_the_first_text(two, monkeypatch):
    """That first text came in the event loop, and with it a step of 25 ms."""
    async with parts_of(two, monkeypatch) as parts:
        context, secrets = parts.context, parts.context.secrets
        server = attrs.evolve(context.config.server, token="a-token-that-only-this-test-has")
        context.config = attrs.evolve(context.config, server=server)
        await secrets.arm()
        monkeypatch.setattr(literals, "_compiled", lambda *_: pytest.fail("it is compiled in the event loop"))
        assert secrets.text("says some words: token = none") == "says some words: token = none"


async def test_what_leaves_the_daemon_is_hidden_before_there_is_a_session(two, monkeypatch):
    """A token of the forms that look like one, and a value of hub's own, in each way of hiding."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with parts_of(two, monkeypatch) as parts:
        secrets = parts.live.daemon.app.secrets
        own = secrets.keys.audit.hex()
        await secrets.arm()
        for found in (secrets.value({"a": [f"{token} {own}"]})["a"][0], secrets.file(f"{token} {own}")):
            assert token not in found
            assert own not in found


async def test_rules_have_another_name_once_another_value_is_known(two, monkeypatch):
    """By the name it is told whether a text was hidden by the rules of today; it tells nothing of the values."""
    async with parts_of(two, monkeypatch) as parts:
        context = parts.context
        named = {}
        for token in ("a-token-of-the-server", "another-token-of-the-server", "a-token-of-the-server"):
            context.config = attrs.evolve(
                context.config, server=attrs.evolve(context.config.server, token=token)
            )
            name = context.secrets.rules().name
            assert named.setdefault(token, name) == name
            assert token not in name
        assert len(set(named.values())) == 2
