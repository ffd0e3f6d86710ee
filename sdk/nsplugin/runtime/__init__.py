"""What stands under a handler while it runs: its context, its calls to the platform, and how those are answered.

The host's process and ``nsplugin.testing`` run handlers by this one code; they differ in who carries the calls and in what
stands behind the answers. Authors import from ``nsplugin`` and ``nsplugin.testing``, not from here.
"""
