"""Source code as the knowledge graph sees it: its language, its top-level symbols, imports and chunks, whose work it is.

`symbols` and its theory are in `symbol.py`; each language is one file, and `table.py` lists them.
"""

from hub.domain.code.chunk import Chunk, chunks
from hub.domain.code.imports import imports
from hub.domain.code.mark import Mark, mark
from hub.domain.code.symbol import Symbol, symbols
from hub.domain.code.table import LANGUAGES, language_of

__all__ = ["LANGUAGES", "Chunk", "Mark", "Symbol", "chunks", "imports", "language_of", "mark", "symbols"]
