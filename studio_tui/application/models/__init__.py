"""Contract models, one module per aggregate: frozen, typed, without unknown fields (ADR-0078 D2)."""
