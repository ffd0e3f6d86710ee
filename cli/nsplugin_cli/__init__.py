"""The command line of nsplugin."""

__version__ = "0.1.0"
WRONG_CALL = 2
"""The exit code of a call that cannot work, or of a wrong configuration."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""
