"""What people are told, once, over which channel."""
