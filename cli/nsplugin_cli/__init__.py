"""The command line of nsplugin."""

__version__ = "0.1.0"
