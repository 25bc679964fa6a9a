"""A damaged Hermes home to look at and to try repairs on, made from the figures of real ones."""
