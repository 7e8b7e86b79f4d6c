"""In-memory twins of what the code under test talks to."""
