"""How values are said, to programs as JSON and to people in words; the same on every surface."""
