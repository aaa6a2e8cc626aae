"""OTP-style supervision on Trio."""
