"""What agents have used on this machine, counted from their own files."""
