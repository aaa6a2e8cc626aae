"""A value that is made without attrs, held against what attrs would have made of the same class."""

import subprocess
import sys

import attrs
import pytest

from hub.domain.struct import NOTHING, Struct


class Point(Struct, hidden=("secret",)):
    x: int
    secret: str = "s"


class Place(Point, kw_only=True):
    """Fields of its own, behind those that it has from the other."""

    above: int = 0

    @property
    def sum(self):
        return self.x + self.above


class Other(Struct):
    x: int
    secret: str = "s"


@attrs.frozen
class Theirs:
    x: int
    secret: str = attrs.field(default="s", repr=False)


@pytest.mark.parametrize("other", [(1,), (2,), (1, "t")])
def test_it_is_equal_to_what_attrs_would_call_equal(other):
    assert (Point(1) == Point(*other)) is (Theirs(1) == Theirs(*other))
    assert (hash(Point(1)) == hash(Point(*other))) is (hash(Theirs(1)) == hash(Theirs(*other)))


def test_another_class_is_never_equal():
    assert Point(1) != Other(1)
    assert Point(1) != Place(x=1)
    assert Point(1) != (1, "s")


def test_a_secret_is_not_shown():
    """Also not by a class that has the field from another."""
    assert repr(Point(1, "token")) == repr(Theirs(1, "token")).replace("Theirs", "Point")
    assert repr(Place(x=1, secret="token")) == "Place(x=1, above=0)"


def test_fields_are_in_the_order_of_the_classes():
    assert (Place(1, "t", 2).sum, Place(x=1, above=3).sum) == (3, 4)


def test_nothing_can_be_changed_or_added():
    value = Point(1)
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(value, name, 2)
    with pytest.raises(AttributeError):
        del value.x
    assert value == Point(1)
    with pytest.raises(TypeError):
        NOTHING["a"] = 1


def test_a_copy_differs_in_what_it_was_told():
    assert Place(x=1, above=2).but(x=5) == Place(x=5, above=2)


@pytest.mark.parametrize(
    ("given", "named", "wrong"),
    [((), {}, "x"), ((1, "s", 3), {}, "Point"), ((1,), {"y": 2}, "y"), ((), {"secret": "s"}, "x")],
)
def test_a_field_too_many_or_too_few_is_an_error(given, named, wrong):
    with pytest.raises(TypeError, match=wrong):
        Point(*given, **named)


def test_it_imports_nothing():
    code = "import sys, types; before = set(sys.modules); import hub.domain.struct; print(*(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(said.split()) == {"__future__", "hub", "hub.domain", "hub.domain.struct"}
