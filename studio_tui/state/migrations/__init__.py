"""Bringing an older store to the schema of lionagi 0.36: planned by looking only, done when asked, never by opening.

``plan`` compares a store with the schema and makes the steps; ``columns``, ``objects``, ``rebuilds`` and ``backfills`` are the
kinds of step; ``upgrade`` takes them one by one, each in a transaction that either happened or did not; ``whole`` is what the
store calls.
"""
