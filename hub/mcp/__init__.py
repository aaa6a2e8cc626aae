"""The tool server: hub for whoever speaks the Model Context Protocol."""
