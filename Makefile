# Everything is installed into .venv; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin
DATA ?=

.PHONY: install demo demo-postgres test test-quick lint docs bench conformance clean

install: .venv/installed

# The stamp is renewed when the list of dependencies changes.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: install
	$(BIN)/doppel demo

# The same on a PostgreSQL server that this starts and stops itself.
demo-postgres: install
	$(BIN)/doppel demo --postgres

test: install
	$(BIN)/pytest -n 2 --dist worksteal

# The inner loop: no PostgreSQL, no other processes.
test-quick: install
	$(BIN)/pytest -n 2 --dist worksteal -m 'not postgres and not processes'

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages that are made from the code; a test holds that they are current.
docs: install
	$(BIN)/python -m docs.generate

bench: install
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

# GitHub's published examples and API description, and clients that others wrote, against bot and simulator.
conformance: install node_modules
	$(BIN)/pytest -n 2 tests/conformance

node_modules: tests/conformance/package.json
	npm install --no-save --no-audit --no-fund --prefix . $$(node -p "Object.entries(require('./tests/conformance/package.json').dependencies).map(d => d.join('@')).join(' ')")

clean:
	rm -rf .venv build *.egg-info node_modules
