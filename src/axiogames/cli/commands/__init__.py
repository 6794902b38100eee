"""The commands of `axio`."""
