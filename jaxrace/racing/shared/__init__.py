"""The race on shared tasks."""
