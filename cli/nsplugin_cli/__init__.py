"""The command line of nsplugin."""

__version__ = "0.1.0"
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""
