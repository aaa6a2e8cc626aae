"""Agents that run without hub: found, announced, adopted."""
