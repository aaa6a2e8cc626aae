"""Small durable records below `.hub`: the one store for them, and the forms of those that several rooms read."""
