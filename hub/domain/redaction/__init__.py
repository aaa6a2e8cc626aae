"""Secrets out of everything that leaves: what is known, what has a form, what is assigned, what an engine finds."""
