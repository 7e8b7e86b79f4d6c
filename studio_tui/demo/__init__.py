"""A throw-away home that shows every state of every screen, made anew for each demo. Nothing in it is real."""
