"""What can be changed: one function for each verb, with all guards inside."""
