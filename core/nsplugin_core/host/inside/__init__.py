"""What runs inside a host's process, beside the plugin. Only ``nsplugin_core.host.child`` imports it."""
