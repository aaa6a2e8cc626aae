"""`hub tui`: the daemon on a terminal. A client of its API like any other; imported by that command alone."""
