"""What an author defined, frozen, and its way into a raw manifest."""
