"""The logins of a provider: those configured, those added, and whether one is logged in."""
