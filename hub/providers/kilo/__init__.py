"""The kilo agent."""
