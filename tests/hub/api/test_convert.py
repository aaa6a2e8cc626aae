"""The one converter: what is taken, what is refused and where, and what is sent."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, TypedDict

import attrs
import pytest

from hub.api.convert import ProblemsError, structure, unstructure
from hub.api.meta import UNSET, AsNamed, Meta, Open, Unset
from hub.domain.config.schema import MAX_PROBLEMS, called


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@attrs.frozen(kw_only=True)
class Part:
    """A part."""

    part_id: int
    size: Size = Size.SMALL


@attrs.frozen(kw_only=True)
class Thing:
    """A thing."""

    sha: Annotated[str, Meta(pattern="^[a-f]+$", description="Letters.")] = attrs.field(
        metadata=called("SHA")
    )
    ratio: Annotated[float, Meta(gt=0, le=1)] | None = None
    kind: Literal["a", "b"] = "a"
    number: str | int | Unset = UNSET
    parts: list[Part] = attrs.field(factory=list)
    by_name: dict[str, int] = attrs.field(factory=dict)
    more: Any = None

    def __attrs_post_init__(self) -> None:
        if self.kind == "b" and not self.parts:
            raise ValueError("b needs parts")


@attrs.frozen(kw_only=True)
class Row(AsNamed):
    """As the specification names it."""

    from_id: str


@attrs.frozen(kw_only=True)
class Document(Open):
    """With members of its own."""

    code: str


class Numbered(TypedDict):
    """What is always there."""

    line: Annotated[int, "Of the page."]


class Notes(Numbered, total=False):
    """JSON that is read by key."""

    by: object
    side: str


@attrs.frozen(kw_only=True)
class Page:
    """With such JSON."""

    notes: Annotated[Notes, Meta(description="Beside the page.")]


def problems(value: Any, kind: type = Thing) -> dict[str, str]:
    with pytest.raises(ProblemsError) as caught:
        structure(value, kind)
    return dict(caught.value.problems)


def test_what_is_read_is_what_is_sent():
    told = {
        "SHA": "abc", "ratio": 1, "kind": "b", "number": 5, "parts": [{"partId": 1, "size": "large"}],
        "byName": {"x": 1}, "more": [None],
    }  # fmt: skip
    thing = structure(told, Thing)
    assert thing.parts == [Part(part_id=1, size=Size.LARGE)]
    assert unstructure(thing) == told
    assert unstructure(structure({"from_id": "x"}, Row)) == {"from_id": "x"}


def test_an_open_class_takes_what_it_does_not_name():
    """RFC 9457: a problem has members besides; a refused body told its line, which the description forbade."""
    assert structure({"code": "x", "line": 1}, Document) == Document(code="x")


def test_a_nul_is_told_where_a_text_is_one_of_several_choices():
    """It was called a text where a number is wanted, though any other text is taken."""
    assert problems({"SHA": "abc", "number": "1\0"}) == {"$.number": "has a NUL in it"}
    assert problems({"SHA": "abc", "number": []}) == {"$.number": "Expected `integer`, got `array`"}


def test_json_that_is_read_by_key_is_passed_on_without_what_is_odd():
    """A log may be older than the hub that reads it: the page failed whole, or looked at each value's type."""
    told = {"notes": {"line": 1, "by": {"a": [2.5]}, "far": [2]}}
    assert unstructure(structure(told, Page)) == told
    assert structure({"notes": {"line": 1, "side": 3}}, Page).notes == {"line": 1}
    assert structure({"notes": {"line": 1, "side": "a\0"}}, Page).notes == {"line": 1}
    assert problems({"notes": {"line": "1"}}, Page) == {"$.notes": "missing: line"}
    assert problems({"notes": []}, Page) == {"$.notes": "Expected `object`, got `array`"}


def test_what_was_left_out_is_not_sent():
    """Null takes a setting back, and a key that was left out leaves it alone: one is not the other."""
    assert "number" not in unstructure(Thing(sha="a"))
    assert unstructure(Thing(sha="a"))["ratio"] is None


def test_every_problem_is_told_under_the_name_on_the_wire():
    found = problems(
        {
            "sha": "a", "ratio": 0, "kind": "c", "number": [], "parts": [{"partId": True}, 5, {"size": "huge"}],
            "byName": {"x": "1"},
        }
    )  # fmt: skip
    assert list(found) == [
        "$.sha", "$.SHA", "$.ratio", "$.kind", "$.number", "$.parts[0].partId", "$.parts[1]",
        "$.parts[2].partId", "$.parts[2].size", "$.byName.x",
    ]  # fmt: skip
    assert found["$.sha"] == "is not a known key. Allowed: SHA, byName, kind, more, number, parts, ratio"
    assert found["$.SHA"] == "missing"
    assert found["$.ratio"] == "Expected `number` > 0", "a whole number is as wrong as a broken one"
    assert found["$.kind"] == "Invalid enum value 'c'; allowed are a, b"
    assert found["$.parts[0].partId"] == "Expected `integer`, got `boolean`"
    assert found["$.parts[1]"] == "Expected `object`, got `integer`"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], {"$": "Expected `object`, got `array`"}),
        (None, {"$": "Expected `object`, got `null`"}),
        ({"SHA": "A"}, {"$.SHA": "Expected `string` matching regex '^[a-f]+$'; Letters."}),
        ({"SHA": "a", "parts": "ab"}, {"$.parts": "Expected `array`, got `string`"}),
        ({"SHA": "a", "byName": []}, {"$.byName": "Expected `object`, got `array`"}),
        ({"SHA": "a", "kind": "b"}, {"$": "b needs parts"}),
        ({"SHA": "a", "kind": ["a"]}, {"$.kind": "Invalid enum value `array`; allowed are a, b"}),
        ({"SHA": "a", "ratio": 1.5}, {"$.ratio": "Expected `number` <= 1"}),
    ],
)
def test_nothing_is_taken_for_what_it_is_not(value: Any, problem: dict[str, str]):
    assert problems(value) == problem


@pytest.mark.parametrize(
    ("bounds", "value", "problem"),
    [
        (Meta(ge=1), 0, "Expected `integer` >= 1"),
        (Meta(le=1), 2, "Expected `integer` <= 1"),
        (Meta(min_length=1), [], "Expected `array` of length >= 1"),
        (Meta(max_length=1), [1, 2], "Expected `array` of length <= 1"),
    ],
)
def test_bounds(bounds: Meta, value: Any, problem: str):
    kind = Annotated[list[int] if isinstance(value, list) else int, bounds]
    assert problems(value, kind) == {"$": problem}  # type: ignore[arg-type]  # a type with something beside it


@pytest.mark.parametrize(
    "value",
    [
        {"SHA": "a", "parts": [1] * 200_000},
        {"SHA": "a", "byName": {str(n): "x" for n in range(200_000)}},
        {"SHA": "a", **{str(n): 1 for n in range(200_000)}},
    ],
    ids=["list", "object", "names"],
)
def test_no_more_problems_are_looked_for_than_are_told(value: Any):
    """A body of 600 kB with a wrong item in every third byte kept the daemon busy for nine seconds."""
    assert len(problems(value)) == MAX_PROBLEMS + 1
