"""The one converter between the classes of the API and JSON.

Owns: the names on the wire (camel case), that nothing is taken for what it is not, and that the problems of a document
are told, each with its path.
Must not: read or write bytes, or know a resource.

cattrs does the walking; the hooks here are what it leaves open: it would make an integer of "5", and a list of a string.
A durable record is read as an answer is, but for members that nobody knows: a newer hub may have written them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import attrs
import cattrs
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from hub.api.meta import UNSET, AsNamed, Meta, Open, Unset
from hub.domain.config.schema import MAX_PROBLEMS, Path, SettingProblem, SettingRule, outside, unknown

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]

_MOST = MAX_PROBLEMS + 1
"""Problems of one list or object that are looked for: no more are told, and a body has room for a million."""
_SHOWN = 80
"""Letters of a wrong value that are repeated."""
_JSON_NAMES = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


class ProblemsError(Exception):
    """A document that is not what it should be, and why, in the order of the document's fields."""

    def __init__(self, found: list[SettingProblem]) -> None:
        super().__init__(found)
        self.found = found

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Where, as a path from `$`, and what."""
        return [(problem.json_path, problem.text) for problem in self.found]


class _NulError(Exception):
    """Told as it is, whatever else a rule or another choice allows."""


def structure(value: object, kind: type[T], *, closed: bool = True) -> T:
    """The value of that class; unless `closed`, members that it does not know are passed over.

    Raises:
        ProblemsError: What is wrong, of each list and object the first `_MOST` problems.
    """
    try:
        return _converters[closed].structure(value, kind)
    except Exception as error:
        raise ProblemsError(list(_problems(error, value, ()))) from error


def unstructure(value: object) -> Any:
    """The value as plain JSON; what is `UNSET` is left out."""
    return _converters[True].unstructure(value)


def metas(kind: object) -> tuple[Meta, ...]:
    """What stands beside the type; a text alone is its description."""
    beside = getattr(kind, "__metadata__", ())
    return tuple(
        Meta(description=item) if isinstance(item, str) else item
        for item in beside
        if isinstance(item, Meta | str)
    )


def _rules(kind: object) -> tuple[SettingRule, ...]:
    return tuple(item for item in getattr(kind, "__metadata__", ()) if isinstance(item, SettingRule))


def fields_of(kind: object) -> Mapping[str, attrs.Attribute[Any]]:
    """The fields of a class by their names on the wire; their types are whole, with what stands beside them."""
    return _fields_of(kind)


@cache
def _fields_of(kind: type) -> Mapping[str, attrs.Attribute[Any]]:
    attrs.resolve_types(kind)
    return {
        field.name if issubclass(kind, AsNamed) else outside(field): field for field in attrs.fields(kind)
    }


def is_required(field: attrs.Attribute[Any]) -> bool:
    """Whether it cannot be left out. A constant never is, although nobody who makes the class has to say it."""
    constant = get_origin(field.type) is Literal and len(get_args(field.type)) == 1
    return constant or field.default is attrs.NOTHING


def _problems(error: BaseException, value: Any, at: Path) -> Iterator[SettingProblem]:
    if isinstance(error, cattrs.IterableValidationError):
        for inner, note in error.group_exceptions()[0]:
            yield from _problems(inner, value[note.index], (*at, note.index))
    elif isinstance(error, cattrs.ClassValidationError):
        yield from _problems_of_class(error, value, at)
    else:
        yield SettingProblem(at, str(error))


def _problems_of_class(error: cattrs.ClassValidationError, value: Any, at: Path) -> Iterator[SettingProblem]:
    noted, others = error.group_exceptions()
    fields = fields_of(error.cl)
    for other in others:
        if isinstance(other, ForbiddenExtraKeysError):
            strange = (name for name in value if name not in fields)
            yield from (SettingProblem((*at, name), unknown(name, fields)) for name in islice(strange, _MOST))
        else:  # a rule over the whole
            yield SettingProblem(at, str(other))
    names = {field.name: name for name, field in fields.items()}
    for inner, note in noted:
        name = names[note.name]
        if name in value:
            yield from _problems(inner, value[name], (*at, name))
        else:
            yield SettingProblem((*at, name), "missing")


def _named(kind: type) -> str:
    """As JSON calls it, whose names its readers know; TOML's times have none there."""
    return _JSON_NAMES.get(kind, kind.__name__)


def _expected(kind: type, value: object) -> ValueError:
    return ValueError(f"Expected `{_named(kind)}`, got `{_named(type(value))}`")


def _renamed(kind: type) -> dict[str, Any]:
    return {field.name: override(rename=name) for name, field in fields_of(kind).items()}


def _class_hook(kind: type, converter: cattrs.Converter) -> Hook:
    closed = converter is _converters[True] and not issubclass(kind, Open)
    made: Hook = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=closed, **_renamed(kind))

    def hook(value: object, as_kind: object) -> object:
        if not isinstance(value, dict):
            raise _expected(dict, value)
        return made(value, as_kind)

    return hook


def _class_back(kind: type, converter: cattrs.Converter) -> Callable[[Any], Any]:
    made: Callable[[Any], Any] = make_dict_unstructure_fn(kind, converter, **_renamed(kind))
    if not any(Unset in get_args(field.type) for field in fields_of(kind).values()):
        return made
    return lambda value: {key: item for key, item in made(value).items() if item is not UNSET}


def _list_hook(kind: object, converter: cattrs.Converter) -> Hook:
    """Of a list, and of a tuple: of any length, or with an item for each of its types."""
    made = tuple if get_origin(kind) is tuple else list
    each = get_args(kind)
    length = len(each) if made is tuple and each[1:] != (...,) else None

    def hook(value: object, _: object) -> object:
        if not isinstance(value, list):
            raise _expected(list, value)
        if length not in (None, len(value)):
            raise ValueError(f"Expected `array` of length {length}")
        return made(
            _all(converter, kind, [(at, item, each[at if length else 0]) for at, item in enumerate(value)])
        )

    return hook


def _dict_hook(kind: object, converter: cattrs.Converter) -> Hook:
    named, of = get_args(kind) or (str, Any)

    def hook(value: object, _: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _expected(dict, value)
        names = [(key, key, named) for key in value]
        found = _all(converter, kind, [*names, *((key, item, of) for key, item in value.items())])
        return dict(zip(found, found[len(value) :], strict=False))

    return hook


def _keys_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Of JSON that is read by key, a `TypedDict`: it stays JSON, and is open. Only a key with an odd value is left out.

    So whoever reads it can rely on the types, whichever hub or program has written it.
    """
    keys = keys_of(kind)

    def fits(name: str, item: object) -> bool:
        try:
            converter.structure(item, keys[name])
        except (ValueError, _NulError, cattrs.BaseValidationError):
            return False
        return True

    def hook(value: object, _: object) -> object:
        if not isinstance(value, dict):
            raise _expected(dict, value)
        found = {name: item for name, item in value.items() if name not in keys or fits(name, item)}
        if missing := kind.__required_keys__ - found.keys():
            raise ValueError(f"missing: {', '.join(sorted(missing))}")
        return found

    return hook


def keys_of(kind: object) -> Mapping[str, Any]:
    """The keys of a `TypedDict`, and their types with what stands beside them."""
    return get_type_hints(kind, include_extras=True)


def _all(converter: cattrs.Converter, kind: Any, items: list[tuple[Any, Any, Any]]) -> list[Any]:
    """Every item, which comes with its place and its type; what is wrong is told of the first `_MOST` that are."""
    found, wrong = [], []
    for at, item, of in items:
        try:
            found.append(converter.structure(item, of))
        except Exception as error:  # noqa: BLE001  # told with all others
            note = cattrs.IterableValidationNote(f"at {at}", at, of)
            error.__notes__ = [*getattr(error, "__notes__", ()), note]
            wrong.append(error)
            if len(wrong) == _MOST:
                break
    if wrong:
        raise cattrs.IterableValidationError("not all items are what they should be", wrong, kind)
    return found


def _union_hook(kind: object, converter: cattrs.Converter) -> Hook:
    choices = [choice for choice in get_args(kind) if choice not in (NoneType, Unset)]
    nullable = NoneType in get_args(kind)

    def hook(value: object, _: object) -> Any:
        if value is None and nullable:
            return None
        for choice in choices[:-1]:
            try:
                return converter.structure(value, choice)
            except ValueError:
                continue
        return converter.structure(value, choices[-1])

    return hook


def _annotated_hook(kind: object, converter: cattrs.Converter) -> Hook:
    inner, bounds, rules = get_args(kind)[0], metas(kind), _rules(kind)

    def hook(value: object, _: object) -> Any:
        for rule in rules:
            value = rule.prepare(value)
        try:
            found = converter.structure(value, inner)
        except ValueError as error:
            raise (rules[0].refusal(value, get_args(inner)) if rules else error) from None
        for each in bounds:
            _check(float(found) if inner is float else found, each)  # 0 and 1 are numbers too
        for rule in rules:
            if not rule.test(found):
                raise rule.refusal(value, typed=True)
        return found

    return hook


def _check(value: Any, bounds: Meta) -> None:
    kind = _named(type(value))
    about = f"; {bounds.description}" if bounds.description else ""
    if bounds.pattern and not re.search(bounds.pattern, value):  # a pattern is for programs to read
        raise ValueError(f"Expected `{kind}` matching regex {bounds.pattern!r}{about}")
    if bounds.min_length is not None and len(value) < bounds.min_length:
        raise ValueError(f"Expected `{kind}` of length >= {bounds.min_length}")
    if bounds.max_length is not None and len(value) > bounds.max_length:
        raise ValueError(f"Expected `{kind}` of length <= {bounds.max_length}")
    if bounds.ge is not None and value < bounds.ge:
        raise ValueError(f"Expected `{kind}` >= {bounds.ge}")
    if bounds.gt is not None and value <= bounds.gt:
        raise ValueError(f"Expected `{kind}` > {bounds.gt}")
    if bounds.le is not None and value > bounds.le:
        raise ValueError(f"Expected `{kind}` <= {bounds.le}")


@cache
def _choice_hook(kind: Any) -> Hook:
    members = get_args(kind) or tuple(kind)
    by_value = {(type(key), key): member for member in members for key in [getattr(member, "value", member)]}

    def hook(value: object, _: object) -> object:
        plain = value.value if isinstance(value, Enum) else value
        plainly = isinstance(plain, str | int)
        if not plainly or (type(plain), plain) not in by_value:
            shown = repr(plain)[:_SHOWN] if plainly else f"`{_named(type(plain))}`"
            allowed = ", ".join(str(key) for _, key in by_value)
            raise ValueError(f"Invalid enum value {shown}; allowed are {allowed}")
        return by_value[type(plain), plain]

    return hook


def _plain_hook(kind: type) -> Hook:
    def hook(value: object, wanted: object) -> object:
        if wanted is not kind:  # cattrs asks here for its subclasses too: an enumeration of strings is one
            return _choice_hook(wanted)(value, wanted)
        if type(value) is kind or (kind is float and type(value) is int):
            return value
        raise _expected(kind, value)

    return hook


def _text_hook(value: object, wanted: object) -> object:
    """A text that somebody gives: it may become an argument, a path or a variable, and none of them can hold a NUL."""
    found = _plain_hook(str)(value, wanted)
    if "\0" in str(found):
        raise _NulError("has a NUL in it")
    return found


def _is_a(*origins: object) -> Callable[[object], bool]:
    return lambda kind: (get_origin(kind) or kind) in origins


def _made(*, closed: bool) -> cattrs.Converter:
    made = cattrs.Converter(detailed_validation=True)
    made.register_structure_hook(Any, lambda value, _: value)
    for kind in (str, int, float, bool):
        made.register_structure_hook(kind, _text_hook if closed and kind is str else _plain_hook(kind))
    made.register_structure_hook_factory(_is_a(list, tuple, Sequence), _list_hook)
    made.register_structure_hook_factory(_is_a(dict, Mapping), _dict_hook)
    made.register_structure_hook_factory(_is_a(Union, UnionType), _union_hook)
    made.register_structure_hook_factory(_is_a(Literal), _choice_hook)
    made.register_structure_hook_factory(
        lambda kind: isinstance(kind, type) and issubclass(kind, Enum), _choice_hook
    )
    made.register_structure_hook_factory(_is_a(Annotated), _annotated_hook)
    made.register_structure_hook_factory(is_typeddict, _keys_hook)
    made.register_structure_hook_func(lambda kind: kind is object, lambda value, _: value)
    made.register_structure_hook_factory(attrs.has, _class_hook)
    made.register_unstructure_hook_factory(attrs.has, _class_back)
    made.register_unstructure_hook_func(
        lambda kind: is_typeddict(getattr(kind, "__origin__", kind)), lambda value: value
    )
    made.register_unstructure_hook(Unset, lambda value: value)
    return made


_converters = {closed: _made(closed=closed) for closed in (True, False)}
"""What refuses members that nobody knows, and what passes them over."""
