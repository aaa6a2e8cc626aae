"""`hub.toml`: its tables, its profiles, and how text becomes them."""
