"""The list of prices: cached tokens counted once, caches written counted dearer, and loaded only when needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hub.domain.cost import Spent, Tokens
from hub.io.models.prices import price


def test_tokens_from_a_cache_are_counted_once_and_cheaper():
    """Codex's input already holds the cached part: 800 at 5 $, 200 at 0.5 $, 100 out at 30 $ a million."""
    assert price(Spent("codex", "gpt-5.5", Tokens(1000, 100, 200))) == 4000 + 100 + 3000


def test_tokens_written_to_a_cache_are_dearer():
    """500 at 5 $, 200 read at 0.5 $, 300 written at 6.25 $, 100 out at 25 $ a million."""
    assert price(Spent("claude", "claude-opus-4-8", Tokens(1000, 100, 200, 300))) == 2500 + 100 + 1875 + 2500


def test_a_long_context_is_dearer_and_many_short_ones_are_not():
    short = price(Spent("gemini", "gemini-2.5-pro", Tokens(600_000, 0), requests=6))
    long = price(Spent("gemini", "gemini-2.5-pro", Tokens(600_000, 0), requests=2))
    assert short == 750_000
    assert long == 1_500_000


def test_somebody_elses_model_is_found_too():
    """An agent may be pointed at another maker's model."""
    assert price(Spent("claude", "gpt-5.5", Tokens(1000))) == 5000
    assert price(Spent("opencode", "gpt-5.5", Tokens(1000))) == 5000


@pytest.mark.parametrize("model", ["", "qwen3-coder-plus", "demo", "\N{SNOWMAN}" * 1000])
def test_a_model_on_no_list_has_no_price(model):
    assert price(Spent("codex", model, Tokens(1000, 100))) is None


def test_more_cached_than_there_was_is_no_error():
    """Figures come from agents."""
    assert price(Spent("codex", "gpt-5.5", Tokens(10, 0, 10**9, 10**9))) == 5


def test_the_list_is_not_loaded_with_the_daemon():
    """26 MB and a quarter of a second: only a session that needs it pays for it."""
    code = "import hub.app, hub.io.models.prices, sys; print('genai_prices' in sys.modules, 'pydantic' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"]
