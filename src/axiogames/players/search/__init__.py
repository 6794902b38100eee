"""Search by rollouts and sequential halving."""
