"""What events tell beside their words is described, key by key; `/openapi.json` is made of that.

Events of the providers' folds, and all that tests get from a daemon, are looked at where they come from (`tests.described`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hub.api.events import EventRecord
from hub.api.schema import Schemas
from hub.domain.meta import EventMeta, only
from tests.described import described_meta

KEPT = Path(__file__).resolve().parents[2] / "stories" / "kept"


def metas_of(told: Any) -> Iterator[dict[str, Any]]:
    """Of every record in it."""
    if isinstance(told, dict) and {"ts", "tag", "msg", "meta"} <= told.keys():
        yield told["meta"]
    parts = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    for part in parts:
        yield from metas_of(part)


@pytest.mark.parametrize("story", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_the_records_of_the_stories_have_no_key_that_nobody_described(story: Path):
    """A story keeps an instant as words, `<int>`: there only the key counts."""
    for meta in metas_of(json.loads(story.read_text())):
        described_meta(
            {
                key: value
                for key, value in meta.items()
                if value != "<int>" or key not in EventMeta.__annotations__
            }
        )


def test_a_key_that_nobody_described_and_one_of_another_type_are_found():
    described_meta({"exitCode": 1, "passedBy": [{"provider": "p", "account": "", "reason": "r", "hint": ""}]})
    for wrong in ({"exitcode": 1}, {"exitCode": "1"}, {"plan": "a"}, {"passedBy": [{"provider": "p"}]}):
        with pytest.raises(AssertionError):
            described_meta(wrong)


def test_every_key_is_described_to_clients_and_others_may_stand_beside_them():
    schemas = Schemas()
    schemas.of(EventRecord)
    found = schemas.components["EventMeta"]
    assert found["properties"].keys() == EventMeta.__annotations__.keys()
    assert found["properties"]["from"] == {"type": "string", "description": "The state that was left."}
    assert found["properties"]["input"].keys() == {"description"}
    assert "additionalProperties" not in found
    assert "Other keys may stand beside these" in found["description"]
    assert schemas.components["PassedAccount"]["required"] == ["account", "hint", "provider", "reason"]


def test_a_part_of_it_has_nothing_that_is_empty():
    meta: EventMeta = {"path": "a", "command": "", "tool": "x"}
    assert list(only(meta, ("tool", "command", "path", "cwd"))) == ["tool", "path"]
