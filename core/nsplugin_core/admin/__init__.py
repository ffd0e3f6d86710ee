"""The administration page: what a core holds, what went wrong in it, and the few things an operator does about that."""
