"""The real Qwen Code, driven through the adapter against the model server on loopback."""

import pytest

from tests.hub.providers.acp.suite import AcpSuite

pytestmark = pytest.mark.agents


class TestQwen(AcpSuite):
    own_prompt = "You are Qwen Code"
    own_folder = ".qwen"
