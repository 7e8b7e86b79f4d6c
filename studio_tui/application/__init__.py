"""The reusable boundary (ADR-0078 D1): typed operations that both front ends call, and the ports they stand on."""
