"""One actor a file. State and order live here; rules live in `hub.domain`."""
