"""``nsplugin dev``: a core, its hosts, a plugin's routes and the administration page on one machine, reloading on change."""

from __future__ import annotations

from nsplugin_core.development.lock import FolderTaken
from nsplugin_core.development.run import Broken, Development, Ready, ReadyPlugin, develop

__all__ = ["Broken", "Development", "FolderTaken", "Ready", "ReadyPlugin", "develop"]
