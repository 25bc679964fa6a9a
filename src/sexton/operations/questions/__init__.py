"""What can be asked: one function for each question; its answer is the JSON of every surface."""
