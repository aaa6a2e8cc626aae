"""The JSON schema of the classes of the API, as OpenAPI 3.1 wants it.

Owns: what a class, a type and what stands beside it become.
Must not: know an operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

import attrs

from hub.api.convert import fields_of, is_required, keys_of, metas, unstructure
from hub.api.meta import Meta, Open, Unset
from hub.domain.jsonvalue import JsonObject

REF = "#/components/schemas/{name}"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "pattern": "pattern"}


class Schemas:
    """Schemas of types; each class and enumeration is described once, and referred to.

    Attributes:
        components: Those descriptions, by name.
    """

    def __init__(self) -> None:
        self.components: dict[str, JsonObject] = {}

    def of(self, kind: Any) -> JsonObject:
        """The schema of a type."""
        if get_origin(kind) is Annotated:
            return self._annotated(kind)
        if attrs.has(kind):
            return self._named(kind, self.of_fields)
        if is_typeddict(kind):
            return self._named(kind, self._of_keys)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return self._named(kind, lambda _: {"enum": sorted(member.value for member in kind)})
        return self._plain(kind)

    def of_fields(self, kind: type, names: Collection[str] | None = None) -> JsonObject:
        """The schema of a class in its place; of some of its fields, if `names` has them."""
        fields = {name: field for name, field in fields_of(kind).items() if names is None or name in names}
        properties = {name: self._field(field) for name, field in fields.items()}
        required = [name for name, field in fields.items() if is_required(field)]
        schema: JsonObject = {"type": "object", "properties": properties, "required": required}
        return schema if issubclass(kind, Open) else {**schema, "additionalProperties": False}

    def _of_keys(self, kind: Any) -> JsonObject:
        """Of a `TypedDict`, which is open: others may write such JSON too."""
        properties = {name: self.of(each) for name, each in keys_of(kind).items()}
        return {"type": "object", "properties": properties, "required": sorted(kind.__required_keys__)}

    def _field(self, field: attrs.Attribute[Any]) -> JsonObject:
        schema = self.of(field.type)
        default = field.default
        if (made := getattr(default, "factory", None)) is not None:
            default = made()
        if default is attrs.NOTHING or isinstance(default, Unset):
            return schema
        return {**schema, "default": unstructure(default)}

    def _named(self, kind: type, describe: Callable[[type], JsonObject]) -> JsonObject:
        name = kind.__name__
        if name not in self.components:
            self.components[name] = {}  # a class may hold itself
            about = {"title": name, "description": inspect.getdoc(kind) or ""}
            self.components[name] = {**about, **describe(kind)}
        return {"$ref": REF.format(name=name)}

    def _annotated(self, kind: object) -> JsonObject:
        schema = self.of(get_args(kind)[0])
        for item in metas(kind):
            schema = {**schema, **_bounds(item, schema)}
        return schema

    def _plain(self, kind: Any) -> JsonObject:
        origin, args = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            choices = [self.of(choice) for choice in args if choice is not Unset]
            return choices[0] if len(choices) == 1 else {"anyOf": choices}
        if origin is Literal:
            return {"enum": sorted(args)}
        if origin in (list, tuple):
            return {"type": "array", "items": self.of(args[0])}
        if (origin or kind) in (dict, Mapping):
            values = self.of(args[1]) if args and args[1] is not Any else {}
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        return {} if kind in (Any, object) else {"type": _PLAIN[kind]}


def _bounds(item: Meta, schema: JsonObject) -> JsonObject:
    told: JsonObject = {"description": item.description} if item.description else {}
    given = attrs.asdict(item, recurse=False)
    told |= {word: given[name] for name, word in _BOUNDS.items() if given[name] not in (None, "")}
    what = "Items" if schema.get("type") == "array" else "Length"
    for name, word in (("min_length", f"min{what}"), ("max_length", f"max{what}")):
        if given[name] is not None:
            told[word] = given[name]
    return told | item.schema
