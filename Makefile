# make demo   install what the demo needs, then hunt a topic in a web grown on this machine
# make test   install, then run all tests: what CI runs
# make check  what CI runs, and style, types, architecture, docs
# make size   lines, words, commands, options, calls per page: what tools/ceilings.toml limits
# make golden whether default crawls still pick what they have picked before, or what AGAINST=COMMIT picks
# make bench  what a page costs, part by part, beside a bare loop on the same pages
# make wheel  build the wheels, install each into an empty environment, and use it there
# make site   the documentation as a site, in site/
# make fuzz   every reader on mutated inputs, FUZZ_SECONDS of CPU time each
.PHONY: demo test check golden fuzz install docs site size bench wheel clean

PYTHON ?= python3
# One more than the cores of CI: many tests wait for other processes.
WORKERS ?= 3
# Compiled modules are kept, whatever the environment says: workers and commands would compile all of them anew.
export PYTHONDONTWRITEBYTECODE :=
BIN := .venv/bin
STAMP := .venv/.installed
BASE := .venv/.base
FILES := pyproject.toml $(wildcard packages/*/pyproject.toml)
PACKAGES := 'packages/lycosa[all]' packages/lycosa-lab 'packages/lycosa-server[postgres]' packages/lycosa-cluster packages/lycosa-scrapy

demo: $(BASE)
	@$(BIN)/lycosa demo

test: install
	@tools/chromium
	@tools/postgres
	@tools/pywb
	@tools/wordnet
	$(BIN)/python -m pytest -n $(WORKERS)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/reference.py --check
	$(BIN)/python tools/items.py --check
	@tools/chromium
	@tools/postgres
	@tools/pywb
	@tools/wordnet
	$(BIN)/python -m pytest -n $(WORKERS)

size: install
	$(BIN)/python tools/size.py

# CORPORA: where recorded corpora lie
CORPORA ?= ../shared/corpora
golden: install
	$(BIN)/python tools/golden.py --corpora $(CORPORA) $(if $(AGAINST),--against $(AGAINST))

bench: install
	$(BIN)/python benchmarks/page_cost.py --pages 200 --most 20

# FUZZ: some targets only, or one and files to run again
FUZZ_SECONDS ?= 60
fuzz: install
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)

docs: install
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/items.py

# Its own environment, with the group `site` only: neither Ray nor browsers.
site: .venv-site/.installed
	.venv-site/bin/python tools/site.py

.venv-site/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --group site
	@touch $@

wheel: install
	PYTHON=$(BIN)/python tools/wheel

install: $(STAMP)

# Without the tools of the tests, and compiled when it is first used: what is waited for is the download.
$(BASE): $(FILES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lycosa needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	@tools/install
	@touch $(BASE)

$(STAMP): $(FILES)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lycosa needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix --editable ,$(PACKAGES)) --group dev
	@touch $(BASE) $(STAMP)

clean:
	rm -rf .venv .venv-site .mypy_cache .pytest_cache .ruff_cache .hypothesis demo
