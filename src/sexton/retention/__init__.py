"""How sessions leave their home and come back: archive, trash, undo, garbage, disk budget."""
