"""The languages that are read, and how a file's is known.

Owns: the list, and the choice by name.
Must not: look into a file.
"""

from __future__ import annotations

from hub.domain.code.ecmascript import JAVASCRIPT, TYPESCRIPT
from hub.domain.code.go import GO
from hub.domain.code.java import JAVA
from hub.domain.code.language import Language
from hub.domain.code.python import PYTHON
from hub.domain.code.ruby import RUBY
from hub.domain.code.rust import RUST

LANGUAGES: dict[str, Language] = {
    language.name: language for language in (GO, RUST, TYPESCRIPT, JAVASCRIPT, PYTHON, JAVA, RUBY)
}
_BY_SUFFIX = {suffix: language.name for language in LANGUAGES.values() for suffix in language.suffixes}
_BY_NAME = {name: language.name for language in LANGUAGES.values() for name in language.names}


def language_of(path: str) -> str | None:
    """The language of a file by its name, a key of `LANGUAGES`; None for a file that is not read."""
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(suffix.lower()) if stem else _BY_NAME.get(name)
