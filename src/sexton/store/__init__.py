"""The two engines, SQLite and PostgreSQL: transactions, statements, migrations."""
