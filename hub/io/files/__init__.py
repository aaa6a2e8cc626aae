"""Files: whole or old, sealed, bounded, confined to a folder."""
