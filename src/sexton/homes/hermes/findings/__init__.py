"""What is wrong with a Hermes home: one topic per module, facts in, findings out."""
