"""The end of a session: how it is judged, and how its result is called."""
