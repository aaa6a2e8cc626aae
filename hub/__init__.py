"""hub: neutral, verifiable transfer of work between AI coding agents."""

__version__ = "0.1.0"
