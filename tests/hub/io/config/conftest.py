"""A `hub.toml` with comments, tables and an order of its own."""

import pytest

WRITTEN = """# my agents
[server]
port = 5 # five

[providers.claude] # the good one
model = "x"   # the big model

[session]
threshold = 0.8

[providers.codex]
enabled = true

[[profiles]]
name = "fast"
"""


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "hub.toml"
    path.write_text(WRITTEN)
    return path
