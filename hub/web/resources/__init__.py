"""What the API serves as plain requests, one module a resource: its `ROUTES`, and handlers where one call is not all."""
