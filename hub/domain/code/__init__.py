"""Source code as the knowledge graph sees it: its language, its top-level symbols, imports and chunks, whose work it is.

The theory of how symbols are found is in `symbol.py`; each language is one file, and `table.py` lists them.
"""
