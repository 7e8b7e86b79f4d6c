"""What programs may rely on: operations, schemas of what goes in and comes out, and how these may change (ADR-0078 D5)."""
