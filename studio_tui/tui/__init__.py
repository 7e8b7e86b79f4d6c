"""The full-screen console: screens and widgets over the application's operations, and nothing below them."""
