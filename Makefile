# Everything that is done with this tree. Needs make and Python 3.11 or newer with pip; the rest is
# installed into .venv the first time, and again whenever pyproject.toml or constraints.txt changes.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 4
# Each worker gets neighbours, which share what a module sets up; who is done early takes over from others.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs
HERMES_RELEASES ?= 0.14.0 0.15.0 0.15.1 0.15.2 0.16.0 0.17.0 0.18.0 0.18.1 0.18.2 0.19.0

.DEFAULT_GOAL := help
.PHONY: help setup run quick test flake golden frozen fuzz check fix docs wheel bench crash e2e hermes hermes-all hermes-matrix \
	shape constraints

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## Install everything into .venv

$(READY): pyproject.toml constraints.txt scripts/setup.sh
	@sh scripts/setup.sh $(VENV)
	@touch $@

run: $(READY) ## Keep the Hermes homes of this machine once and report; with none, show a demonstration
	@$(BIN)/python scripts/run.py

quick: $(READY) ## Run the tests that need nothing but Python, in under a minute
	$(PYTEST) --hypothesis-profile quick -m "not (postgres or hermes or systemd or browser or slow)"

test: $(READY) ## Run all tests (WORKERS=4)
	$(PYTEST)

flake: $(READY) ## Run the tests N times and print each failure (N=10 LOAD=1 ONLY="tests/unit/test_x.py")
	@$(BIN)/python scripts/flake.py

golden: $(READY) ## Write the words of screens and pages in tests/golden anew (ONLY="tests/surface/test_x.py")
	rm -f $(if $(ONLY),,tests/golden/*.txt)
	GOLDEN=1 $(BIN)/python -m pytest $(or $(ONLY),$$(grep -rl "import golden" tests --include='test_*.py'))

frozen: $(READY) ## Compare schema, statements, answers, API and public names with tests/frozen (FROZEN=1 writes)
	@$(BIN)/python -m tests.frozen

fuzz: $(READY) ## Try new examples of every property, many times as many as the tests do (FUZZ=20)
	FUZZ=$${FUZZ:-20} $(PYTEST) --timeout 3600 tests/unit tests/contract

check: $(READY) ## Lint, types, layers, generated pages, then all tests with branch coverage
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	sh scripts/docs.sh check $(BIN)/python
	$(PYTEST) --cov --cov-report= --cov-report=json:.coverage.json
	$(BIN)/python scripts/coverage_floor.py .coverage.json

fix: $(READY) ## Mend what the linter can mend, and format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY) ## Write the generated pages anew
	sh scripts/docs.sh write $(BIN)/python

wheel: $(READY) ## Build the wheel and try it in an empty environment
	sh scripts/wheel.sh $(BIN)/python

bench: $(READY) ## Measure against the peers; a table, and all figures as JSON
	$(BIN)/python -m bench --json -

crash: $(READY) ## Kill, pause and mislead processes on each engine and look for losses (N=... SEED=...)
	$(BIN)/python -m tests.crash

e2e: $(READY) ## Test the dashboard in a real browser alone (PICTURES=dir keeps its pictures)
	$(BIN)/python -m pytest tests/e2e

hermes-all: $(READY) ## Observe and examine homes of every Hermes from 0.14 to 0.19
	@set -e; for release in $(HERMES_RELEASES); do \
		HERMES_VERSION=$$release sh scripts/install_hermes.sh; \
	done
	HERMES_RELEASES="$(HERMES_RELEASES)" $(BIN)/python -m pytest tests/surface/test_hermes_releases.py

hermes: ## Install Hermes 0.19.0 into .venvs/hermes, for tests and benchmarks
	sh scripts/install_hermes.sh

hermes-matrix: $(READY) hermes ## Measure how sessions of Hermes end, and write it into docs/hermes.md
	$(BIN)/python scripts/hermes_matrix.py

shape: $(READY) ## Print how big the tree is, and how far what belongs together lies apart
	@$(BIN)/python scripts/shape.py

constraints: $(READY) ## Choose the newest allowed dependencies anew
	sh scripts/constraints.sh $(BIN)/python
