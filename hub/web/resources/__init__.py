"""What the API serves as plain requests, one module a resource: its `ROUTES`, and the handlers of those that are more than one call."""
