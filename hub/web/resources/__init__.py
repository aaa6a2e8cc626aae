"""What the API serves as plain requests, one module a resource: its shapes, its handlers and its `ROUTES`."""
