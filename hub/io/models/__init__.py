"""Local models and vision models, as servers and tools on this machine offer them."""
