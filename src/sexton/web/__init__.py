"""The dashboard, the HTTP API and the metrics of a ledger."""
