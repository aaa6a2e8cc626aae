"""A session, a list, a picture on a terminal, and the keys pressed there. None of it knows a command."""
