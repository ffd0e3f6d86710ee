"""What answers the calls of hosts: the runtime's desk over the core's stores, clock, secrets and providers."""
