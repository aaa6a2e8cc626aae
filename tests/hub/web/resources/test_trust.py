"""`GET /api/trust`: what the project would do, with its secrets hidden, and whether it may."""

from __future__ import annotations

import attrs

from hub.api.base import Nothing
from hub.api.convert import structure
from hub.api.trust import Trusted
from hub.errors import Code, HubError
from hub.web.context import Context
from hub.web.resources.trust import trusted
from tests.faults.harness import project
from tests.hub.web.fake import Fake, repository


async def test_a_project_that_names_nothing_needs_no_trust():
    found = await trusted(Fake().context(), Nothing())
    assert (found.state, found.trusted, found.items) == ("not_needed", True, [])
    assert found.project == str(repository().resolve())


async def test_a_daemon_that_was_not_told_yes_says_so(tmp_path, monkeypatch):
    """And one that was, for this time: no record says that."""
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("HUB_TRUST", raising=False)
    with project(tmp_path) as work:
        (work.root / "hub.toml").write_text('[session]\nverify = ["make test"]\n')

        def insist(_: str) -> None:
            raise HubError(Code.TRUST_NEEDED)

        context: Context = attrs.evolve(
            Fake().context(),
            places=attrs.evolve(Fake().context().places, root=work.root),
            insist_on_trust=insist,
        )
        found = await trusted(context, Nothing())
        assert (found.state, found.trusted) == ("untrusted", False)
        assert [(item.does, item.key, item.change) for item in found.items] == [
            ("runs", "session.verify", "")
        ]
        assert "make test" in found.items[0].text
        once = await trusted(attrs.evolve(context, insist_on_trust=lambda _: None), Nothing())
        assert (once.state, once.trusted) == ("trusted", True)


def test_over_http(tmp_path):
    with project(tmp_path) as work:
        work.configure()
        api = work.start()
        assert structure(api.get("/api/trust"), Trusted).trusted
