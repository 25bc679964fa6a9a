"""The HTTP API, one router for each noun."""
