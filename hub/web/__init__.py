"""The HTTP and WebSocket face of the daemon. A handler decodes, makes one call and encodes."""
