"""The loop: observe, plan, apply, explain, sweep."""
