"""The register of sessions: who may begin, whose turn it is, and whom a message means."""
