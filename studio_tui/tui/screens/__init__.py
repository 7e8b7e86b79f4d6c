"""The screens, one module each. Their modules are imported when they are first entered."""
