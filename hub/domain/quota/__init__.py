"""What each account has left: what its meters show, how fast they rise, and when they are full."""
