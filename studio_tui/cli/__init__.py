"""The command line: one module per noun. Nothing here, and nothing that ``--help`` needs, imports more than click."""
