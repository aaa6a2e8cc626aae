"""The models actor and its parts: pulls, launches and looks."""
