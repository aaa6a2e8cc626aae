"""What Qwen Code's sessions tell of its spending.

Owns: `SPENT`.
Must not: open a file.
Tests: tests/hub/actors/detector/test_meter.py
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.quota.elsewhere import Used
from hub.providers.jsonline import count, instant, mapping, text
from hub.providers.quota import SpentStore


def answer(line: Mapping[str, object], _session: str) -> Used | None:
    """The answer of an assistant's record. Thoughts are among the candidates' tokens, cached ones in the prompt's."""
    used, at = mapping(line.get("usageMetadata")), instant(line.get("timestamp"))
    tokens = count(used.get("promptTokenCount")) + count(used.get("candidatesTokenCount"))
    if line.get("type") != "assistant" or at is None or not tokens:
        return None
    return Used(text(line.get("uuid")), at, tokens)


SPENT = SpentStore(mark=b'"usageMetadata"', answer=answer)
