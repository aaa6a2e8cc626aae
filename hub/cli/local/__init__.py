"""The project itself: where no daemon runs, or while one runs in this process or is started behind it."""
