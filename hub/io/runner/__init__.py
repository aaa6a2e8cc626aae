"""The program every agent runs under, its parts, and what the daemon writes and reads of a run."""
