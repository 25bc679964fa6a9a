"""What sessions spend: budgets, reservations, prices, the circuit breaker."""
