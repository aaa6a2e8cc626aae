"""What the user configures, as files: read, patched, and kept."""
