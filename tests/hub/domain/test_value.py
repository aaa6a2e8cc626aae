"""What every small value has in common, held against what attrs would have written for the class itself."""

import attrs
import pytest

from hub.domain.value import Value


@attrs.frozen(eq=False, repr=False)
class Point(Value):
    x: int
    secret: str = attrs.field(default="s", repr=False)
    beside: int = attrs.field(default=0, eq=False)


@attrs.frozen(eq=False, repr=False)
class Other(Value):
    x: int
    secret: str = "s"
    beside: int = 0


Ours = Point


@attrs.frozen
class Theirs:
    x: int
    secret: str = attrs.field(default="s", repr=False)
    beside: int = attrs.field(default=0, eq=False)


@pytest.mark.parametrize("other", [(1,), (2,), (1, "t"), (1, "s", 5)])
def test_it_is_equal_to_what_attrs_would_call_equal(other):
    assert (Ours(1) == Ours(*other)) is (Theirs(1) == Theirs(*other))
    assert (hash(Ours(1)) == hash(Ours(*other))) is (hash(Theirs(1)) == hash(Theirs(*other)))


def test_another_class_is_never_equal():
    assert Point(1) != Other(1)
    assert Point(1) != (1, "s")
    assert len({Point(1), Other(1), Point(1, beside=2)}) == 2


def test_it_is_shown_as_attrs_shows_it_and_tells_no_secret():
    assert repr(Ours(1, "hidden")) == repr(Theirs(1, "hidden")).replace("Theirs", "Point")
    assert "hidden" not in repr(Ours(1, "hidden"))


def test_a_value_of_what_cannot_be_hashed_cannot_either():
    with pytest.raises(TypeError):
        hash(Point([1]))
