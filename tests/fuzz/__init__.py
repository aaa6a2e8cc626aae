"""Generated requests against a real daemon."""
