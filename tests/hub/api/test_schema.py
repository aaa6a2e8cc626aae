"""The description of the API's classes: as they are checked, no more and no less."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import attrs

from hub.api.meta import UNSET, Meta, Open, Unset
from hub.api.schema import Schemas
from hub.errors import Code


@attrs.frozen(kw_only=True)
class Leaf:
    """A leaf."""

    word: Annotated[str, Meta(min_length=1, max_length=5, pattern="^a", description="A word.")]


@attrs.frozen(kw_only=True)
class Tree:
    """A tree."""

    leaves: Annotated[list[Leaf], Meta(max_length=2)]
    share: Annotated[float, Meta(gt=0, le=1)] | None = None
    code: Code | Unset = UNSET
    kind: Literal["b", "a"] = "a"
    free: dict[str, Any] = attrs.field(factory=dict)
    counts: dict[str, int] = attrs.field(factory=dict)
    path: Annotated[str, Meta(schema={"format": "path"})] = "."


def test_a_class_is_described_once_and_referred_to():
    schemas = Schemas()
    assert schemas.of(Tree) == schemas.of(Tree) == {"$ref": "#/components/schemas/Tree"}
    assert set(schemas.components) == {"Tree", "Leaf", "Code"}
    assert schemas.components["Code"]["enum"] == sorted(code.value for code in Code)
    assert schemas.components["Leaf"] == {
        "title": "Leaf",
        "description": "A leaf.",
        "type": "object",
        "properties": {
            "word": {
                "type": "string",
                "minLength": 1,
                "maxLength": 5,
                "pattern": "^a",
                "description": "A word.",
            }
        },
        "required": ["word"],
        "additionalProperties": False,
    }
    tree = schemas.components["Tree"]
    assert tree["required"] == ["leaves"]
    assert tree["properties"] == {
        "leaves": {"type": "array", "items": {"$ref": "#/components/schemas/Leaf"}, "maxItems": 2},
        "share": {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}],
            "default": None,
        },
        "code": {"$ref": "#/components/schemas/Code"},
        "kind": {"enum": ["a", "b"], "default": "a"},
        "free": {"type": "object", "default": {}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}},
        "path": {"type": "string", "format": "path", "default": "."},
    }


@attrs.frozen(kw_only=True)
class Document(Open):
    """With members of its own."""


def test_an_open_class_forbids_nothing():
    assert "additionalProperties" not in Schemas().of_fields(Document)


def test_some_fields_alone():
    """What the path of a route gives is no part of its body."""
    assert list(Schemas().of_fields(Tree, ["kind", "path"])["properties"]) == ["kind", "path"]
