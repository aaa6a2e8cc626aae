"""Source code as the knowledge graph sees it: its language, its top-level symbols, imports and chunks, whose work it is.

The theory of how symbols are found is in `symbol.py`; each language is one file, and `table.py` lists them.
"""

from hub.domain.code.chunk import CodeChunk, chunks
from hub.domain.code.declared import Declared, declared
from hub.domain.code.mark import Mark, mark
from hub.domain.code.symbol import Symbol
from hub.domain.code.table import LANGUAGES, language_of

__all__ = [
    "LANGUAGES",
    "CodeChunk",
    "Declared",
    "Mark",
    "Symbol",
    "chunks",
    "declared",
    "language_of",
    "mark",
]
