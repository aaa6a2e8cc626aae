"""The knowledge graph: what the code is made of, and what agents have done to it."""
