"""git: how it is run, what is asked of it, and what is made with it."""
