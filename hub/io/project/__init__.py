"""The project's own folder and the user's: where things lie, and whether they may be used."""
