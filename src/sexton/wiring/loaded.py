"""Loads what threads that must live need, before they start.

A thread that loads a module itself needs descriptors and memory for it, and a lock that others may
hold. An agent that keeps nothing does not import this.
"""

# ruff: noqa: F401  # all of them are only loaded

import psutil  # processes where there is no /proc, and holders of a home's files

import sexton.core.content
import sexton.finalizers.policy
import sexton.finalizers.store
import sexton.homes.native
import sexton.homes.store
import sexton.keeper.gauges
import sexton.liveness.store
import sexton.notifications.store
import sexton.processes.store
import sexton.retention.disk_budget
import sexton.retention.disk_space
import sexton.retention.model
import sexton.retention.policy
import sexton.retention.removable
import sexton.retention.retained_sessions
import sexton.retention.store
import sexton.retention.vault_book
import sexton.sessions.board
import sexton.sessions.compression_store
import sexton.sessions.index
import sexton.spending.store
import sexton.store.hygiene
import sexton.wiring.attaching
import sexton.wiring.home_files
import sexton.wiring.oversight
import sexton.wiring.removal_wiring
