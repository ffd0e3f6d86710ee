# make demo | test | check | fix | update | bench: each does all the set-up that it needs, in .venv.
PYTHON ?= python3
BIN := .venv/bin
DEMO := build/demo

.PHONY: demo test check fix update bench
.DEFAULT_GOAL := demo

demo: .venv/ready
	@mkdir -p $(DEMO)
	$(BIN)/nsplugin build fixtures/good/cache-expiry --out $(DEMO)/cache-expiry.manifest.json
	$(BIN)/nsplugin check $(DEMO)/cache-expiry.manifest.json --timezone America/New_York --now 2026-03-06T12:00Z
	$(BIN)/nsplugin next "30 2 * * *" --timezone America/New_York --after 2026-03-06T12:00Z

test: .venv/ready-dev
	$(BIN)/pytest -n auto --dist loadfile

check: .venv/ready-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python tests/generated.py --check

fix: .venv/ready-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

update: .venv/ready-dev
	$(BIN)/python tests/generated.py
	NSPLUGIN_UPDATE=1 $(BIN)/pytest -q tests/admin_browser -k pictures

bench: .venv/ready-bench
	@for bench in bench/*.py; do echo "$$bench"; $(BIN)/python $$bench || missed=1; echo; done; exit $${missed:-0}

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/ready-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch .venv/ready $@

.venv/ready-bench: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch .venv/ready .venv/ready-dev $@
