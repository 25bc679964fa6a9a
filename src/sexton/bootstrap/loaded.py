"""Loads what threads that must live need, before they start.

A thread that loads a module itself needs descriptors and memory for it, and a lock that others may
hold. An agent that keeps nothing does not import this.
"""

# ruff: noqa: F401  # all of them are only loaded

import psutil  # processes where there is no /proc, and holders of a home's files

import sexton.bootstrap.attaching
import sexton.bootstrap.home_files
import sexton.bootstrap.oversight
import sexton.bootstrap.removing
import sexton.homes.native
import sexton.ledger.board
import sexton.ledger.compression
import sexton.ledger.finalizing
import sexton.ledger.gauges
import sexton.ledger.homes
import sexton.ledger.hygiene
import sexton.ledger.index
import sexton.ledger.outbox
import sexton.ledger.processes
import sexton.ledger.reaping
import sexton.ledger.removable
import sexton.ledger.removal
import sexton.ledger.retention
import sexton.ledger.samples
import sexton.ledger.spending
import sexton.ledger.vault_book
import sexton.model.content
import sexton.model.removal
import sexton.policies.disk_budget
import sexton.policies.finalizing
import sexton.policies.retention
import sexton.system.space
