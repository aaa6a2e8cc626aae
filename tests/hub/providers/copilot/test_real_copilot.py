"""The real Copilot CLI, driven through the adapter against the model server on loopback: no GitHub account needed."""

import pytest

from tests.hub.providers.suite import AgentSuite

pytestmark = pytest.mark.agents


class TestCopilot(AgentSuite):
    own_prompt = "You are GitHub Copilot"
    replays = True
