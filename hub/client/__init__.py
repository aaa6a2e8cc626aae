"""Clients of the daemon's API: the only way in for the command line, the terminal UI and `hub mcp`."""
