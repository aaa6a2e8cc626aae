"""What the user's rules say to a request, and what a command line does."""
