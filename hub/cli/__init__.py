"""The command line. Imports late, so that a short command starts fast."""
