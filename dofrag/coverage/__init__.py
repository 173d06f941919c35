"""The heart: whether a passage supports a requirement, and whether a draft may close. Pure functions only."""
