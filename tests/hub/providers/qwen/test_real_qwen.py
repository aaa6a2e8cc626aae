"""The real Qwen Code, driven through the adapter against the model server on loopback."""

import pytest

from hub.domain.failure import FailureClass
from tests.drive import drive
from tests.hub.providers.suite import PATIENCE, AgentSuite
from tests.model_server import Turn

pytestmark = pytest.mark.agents


class TestQwen(AgentSuite):
    own_prompt = "You are Qwen Code"

    def test_a_refusal_before_any_work_is_told_in_other_words(self, provider, models, assign, env):
        models.script("key", Turn.refusal())
        run = drive(provider, assign(), env, timeout=PATIENCE)
        assert run.outcome.failure.kind is FailureClass.REFUSAL
