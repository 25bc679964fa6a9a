"""What every surface asks and does in the same way."""
