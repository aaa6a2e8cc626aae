"""What a project may do to its user before it is trusted."""
