"""HTTP requests to servers that are not hub's."""
