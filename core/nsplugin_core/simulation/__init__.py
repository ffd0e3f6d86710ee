"""Days of a core in seconds: the engine, its policies and its store on a virtual clock (spec/core.md Commands, simulate)."""

from __future__ import annotations

from nsplugin_core.simulation.orders import OrderError
from nsplugin_core.simulation.run import SimulationFailed, simulate
from nsplugin_core.simulation.scenario import Scenario, SimulatedPlugin
from nsplugin_core.simulation.summary import Simulation, Summary

__all__ = ["OrderError", "Scenario", "SimulatedPlugin", "Simulation", "SimulationFailed", "Summary", "simulate"]
