"""The store: StateDB, its schema, its queries and the adapters that serve the ports (SQLAlchemy Core)."""
