"""The real Gemini CLI, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from tests.drive import drive
from tests.hub.providers.suite import WORK, AgentSuite
from tests.model_server import Turn

pytestmark = pytest.mark.agents


class TestGemini(AgentSuite):
    """A key is enough: the user's settings need not name a login."""

    own_prompt = "You are an interactive CLI agent"
    hosts = ("play.googleapis.com:443",)
    exit_codes = False
    denied_ends = False
    replays = True

    def age(self, account_dir: Path) -> None:
        """Gives the recorded session the name it would have had a minute earlier.

        `session/load` in the UTC minute of the session's beginning overwrites it; waiting for the next minute would
        show the same.
        """
        for chat in (account_dir / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"):
            _, _, short = chat.stem.rpartition("-")
            chat.rename(chat.with_name(f"session-2026-01-01T00-00-{short}.jsonl"))

    def test_a_limit_is_told(self, provider, models, assign, env):
        """It is clean, and its reset comes from standard error."""
        models.script("key", WORK, Turn.limit(resets_in=7200))
        began = time.time()
        run = drive(provider, assign(), env)
        failure = run.outcome.failure
        assert (failure.kind, failure.window) == (FailureClass.USAGE_LIMIT, "day")
        assert began - 1 <= failure.resets_at - 7200 <= time.time() + 1
        assert len(run.of(EventType.ERROR)) == 1
        assert run.exit.code == 0

    def test_what_passes_is_waited_out(self, provider, models, assign, env, tmp_path):
        """Nothing on standard output tells it: the retries are on standard error."""
        models.script("key", Turn.minute(1), Turn.text("Done."))
        run = drive(provider, assign(), env)
        assert run.outcome.ending is Ending.DONE
        stream = provider.stream(assign(dispatch="d-2"))
        lines = (tmp_path / "d-1" / "stderr").read_bytes().splitlines()
        retries = [event for line in lines for event in stream.feed_stderr(line, 1000.0).events]
        assert [event.type for event in retries] == [EventType.RETRY]
        assert retries[0].meta["failure"] == "usage_limit"
        assert retries[0].meta["resetsAt"] >= 1001

    def test_a_login_dialogue_on_standard_output_ends_the_run(
        self, provider, models, assign, env, account_dir
    ):
        """Without its OAuth credentials the program asks for a code and takes our JSON for one, again and again."""
        (account_dir / ".gemini").mkdir()
        settings = {"security": {"auth": {"selectedType": "oauth-personal"}}}
        (account_dir / ".gemini" / "settings.json").write_text(json.dumps(settings))
        run = drive(provider, assign(), env, stop_on_outcome=True)
        assert run.outcome.failure.kind is FailureClass.AUTH
