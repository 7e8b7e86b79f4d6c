"""Pure rules: values and a clock reading in, values out. Nothing here does I/O."""
