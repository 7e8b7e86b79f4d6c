"""Statements by aggregate, without I/O. Each is built once and takes its values as bound parameters."""
