"""What a person can ask for beside a plan: what would be done is shown first, then it is done."""
