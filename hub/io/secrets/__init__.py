"""Keys and logins on disk, and the engine that looks for others."""
