# Everything is installed into .venv; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin
DATA ?=

# Each process of the tests would compile every file again where the environment says that nothing is to be kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install demo test test-quick test-explore test-models test-browser lint docs bench chaos fuzz audit conformance clean

PIP := $(BIN)/pip install --quiet --disable-pip-version-check

install: .venv/installed

# The stamp is renewed when the list of dependencies changes.
.venv/installed: pyproject.toml
	@echo "Installing Doppel and what it needs into .venv. This is done once and takes a minute or two."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: Python 3.11 or later is needed, as in make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "$(PIP) --editable '.[dev]'"
	@$(PIP) --editable '.[dev]' || { echo "If a package could not be built above: where wordllama has no wheel (Linux on ARM, Python 3.14)" \
		"a C++ compiler and Python's headers are needed; on Debian: apt-get install g++ python3-dev"; exit 1; }
	touch $@

demo: install
	$(BIN)/doppel demo

# Without the browser's tests also where playwright is installed: it leaves an event loop running in its process.
test: install
	$(BIN)/pytest -n 4 --dist worksteal -m 'not browser'

# The inner loop, which is to take less than a minute: no PostgreSQL, no other processes, nothing slow, and of the tests
# of the whole bot a few.
test-quick: install
	$(BIN)/pytest -n 3 --dist worksteal -m 'not postgres and not processes and not whole and not slow and not browser'

# Property tests with other examples every time, and more of them than the suite draws.
test-explore: install
	$(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile explore -m 'not postgres and not processes and not browser'

# With the model that D recommends, which needs about a gigabyte. Without it these tests are skipped.
test-models: install
	$(PIP) --editable '.[dev,test-models]'
	$(BIN)/pytest -m models

# The demo's page in a real browser, which the machine must have (Debian: apt-get install chromium).
test-browser: install
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
		echo "There is no Chromium on this machine; on Debian: apt-get install chromium"; exit 1
	$(PIP) --editable '.[dev,test-browser]'
	$(BIN)/pytest -m browser

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages that are made from the code; a test holds that they are current.
docs: install
	$(BIN)/python -m docs.generate

# Known vulnerabilities of what is installed; an advisory fails it, which it does not in CI (.ci/audit says why).
audit: install
	.ci/audit --strict

# A counted number of hostile inputs for every parser, other ones each time; a small share of them is in the suite.
fuzz: install
	$(BIN)/python -m tests.fuzz $(if $(CASES),--cases $(CASES))

# Everything that can go wrong at once, on both databases: about ten minutes each. docs/operations.md says more.
chaos: install
	$(BIN)/python -m bench.chaos
	$(BIN)/python -m bench.chaos --postgres

bench: install
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

# GitHub's published examples and API description, and clients that others wrote, against bot and simulator.
conformance: install node_modules
	$(BIN)/pytest -n 2 tests/conformance

node_modules: tests/conformance/package.json
	npm install --no-save --no-audit --no-fund --prefix . $$(node -p "Object.entries(require('./tests/conformance/package.json').dependencies).map(d => d.join('@')).join(' ')")

clean:
	rm -rf .venv build *.egg-info node_modules
