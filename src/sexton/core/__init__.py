"""What every capability shares: session, message, plan, clock, wording."""
