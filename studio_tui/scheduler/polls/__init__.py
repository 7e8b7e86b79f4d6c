"""Polls of GitHub: when a repository is asked, how, and what becomes of each new event."""
