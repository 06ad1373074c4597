"""New plugins from templates."""
