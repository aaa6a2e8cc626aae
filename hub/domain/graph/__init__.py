"""The knowledge graph: its words, and what the event log adds to it."""
