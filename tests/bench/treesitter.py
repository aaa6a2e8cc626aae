"""What a parser says a source file defines at its top level: tree-sitter's grammars, each its own wheel.

Owns: which nodes of a grammar define what, in the words of `hub.domain.code`.
Must not: be needed by anything but a measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from hub.domain.code.table import LANGUAGES

_NAMES = {
    *("identifier", "type_identifier", "property_identifier", "field_identifier", "nested_identifier"),
    *("scoped_identifier", "constant", "scope_resolution", "setter", "operator"),
}
"""What a name is; a pattern, as in `const {a, b} = ...`, is none."""
_INSIDE = {
    "go": "type_declaration const_declaration var_declaration var_spec_list",
    "python": "decorated_definition if_statement elif_clause else_clause try_statement except_clause finally_clause"
    " with_statement for_statement while_statement match_statement case_clause block",
    "javascript": "export_statement lexical_declaration variable_declaration",
    "typescript": "export_statement ambient_declaration lexical_declaration variable_declaration",
}
"""Nodes that are no definitions and hold some."""
_SCRIPT = "function_declaration generator_function_declaration class_declaration variable_declarator"
_DEFINING = {
    "go": "function_declaration method_declaration type_spec type_alias const_spec var_spec",
    "rust": "function_item function_signature_item struct_item enum_item union_item trait_item mod_item type_item"
    " const_item static_item macro_definition",
    "java": "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
    " module_declaration",
    "python": "function_definition class_definition",
    "ruby": "class module method singleton_method",
    "javascript": _SCRIPT,
    "typescript": f"{_SCRIPT} abstract_class_declaration interface_declaration type_alias_declaration enum_declaration"
    " function_signature internal_module module",
}
"""Nodes whose field `name` is one; Go's may have several."""
_KINDS = {
    language: (frozenset(_DEFINING[language].split()), frozenset(_INSIDE.get(language, "").split()))
    for language in LANGUAGES
}


def parser(language: str) -> Callable[[bytes], Any] | None:
    """Parses a file into a tree; None where the wheels are not installed."""
    try:
        base, grammar = import_module("tree_sitter"), import_module(f"tree_sitter_{language}")
    except ImportError:
        return None
    made = grammar.language_typescript() if language == "typescript" else grammar.language()
    parse: Callable[[bytes], Any] = base.Parser(base.Language(made)).parse
    return parse


def definitions(language: str, node: Any) -> Iterator[str]:
    """The names that a node defines at the top level of its file."""
    defining, inside = _KINDS[language]
    for child in node.named_children:
        if child.type in defining:
            yield from _named(child, "name")
        elif child.type in inside:
            yield from definitions(language, child)
        elif child.type in {"expression_statement", "assignment"}:
            yield from _ASSIGNED.get(language, _nothing)(child)
        if language == "ruby" and child.type == "module" and (body := child.child_by_field_name("body")):
            yield from _name_space(body)


def _named(node: Any, field: str) -> Iterator[str]:
    for name in node.children_by_field_name(field):
        if name.type in _NAMES:
            yield name.text.decode("utf-8", "replace")


def _name_space(body: Any) -> Iterator[str]:
    """The classes and modules that a Ruby module holds, not its methods."""
    for child in body.named_children:
        if child.type in {"class", "module"}:
            yield from _named(child, "name")
        if child.type == "module" and (inner := child.child_by_field_name("body")):
            yield from _name_space(inner)


def _nothing(node: Any) -> Iterator[str]:
    yield from ()


def _python(statement: Any) -> Iterator[str]:
    """`a = b = 1` and `a: int` in the module itself."""
    node = statement.named_children[0] if statement.named_children else None
    while statement.parent.type == "module" and node is not None and node.type == "assignment":
        yield from _named(node, "left")
        node = node.child_by_field_name("right")


def _ruby(assignment: Any) -> Iterator[str]:
    """`A = 1`; a name in small letters is a local variable."""
    left = assignment.child_by_field_name("left")
    if left.type in {"constant", "scope_resolution"}:
        yield from _named(assignment, "left")


def _script(statement: Any) -> Iterator[str]:
    """`exports.a = ...` and `A.prototype.b = ...`; TypeScript's grammar has a namespace as a statement."""
    for node in statement.named_children:
        left = node.child_by_field_name("left")
        if node.type == "internal_module":
            yield from _named(node, "name")
        elif node.type == "assignment_expression" and left.type == "member_expression":
            base = left.child_by_field_name("object").text
            if base in {b"exports", b"module.exports"} or base.endswith(b".prototype"):
                yield from _named(left, "property")


_ASSIGNED: dict[str, Callable[[Any], Iterator[str]]] = {
    "python": _python,
    "ruby": _ruby,
    "javascript": _script,
    "typescript": _script,
}
