"""Tools for agents: passages like this one, and what a store is about."""
