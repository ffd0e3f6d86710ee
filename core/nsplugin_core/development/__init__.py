"""``nsplugin dev``: a core, its hosts, a plugin's routes and the administration page on one machine, reloading on change."""

from __future__ import annotations

from nsplugin_core.development.lock import FolderTaken
from nsplugin_core.development.run import Development, ReadyPlugin, develop

__all__ = ["Development", "FolderTaken", "ReadyPlugin", "develop"]
