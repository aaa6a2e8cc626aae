"""The knowledge graph on disk: `graph.db`. Its one user is the knowledge actor."""
