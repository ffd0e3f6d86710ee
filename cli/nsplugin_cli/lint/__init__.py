"""``nsplugin lint``: sources are read and never run."""
