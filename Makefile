# make demo   install what the demo needs, then hunt a topic in a web grown on this machine
# make test   install, then run all tests: what CI runs
# make check  what CI runs, and style, types, architecture, docs
# make size   lines, words, commands, options, calls per page: what tools/ceilings.toml limits
# make golden whether default crawls still pick what they have picked before, or what AGAINST=COMMIT picks
# make bench  what a page costs, part by part, beside a bare loop on the same pages
# make wheel  build the wheel, install it into an empty environment, and run the demo from there
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

site: install
	$(BIN)/python tools/site.py

wheel: install
	PYTHON=$(BIN)/python tools/wheel

install: $(STAMP)

# Without the tools of the tests, and compiled when it is first used: what is waited for is the download.
$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lycosa needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	@tools/install
	@touch $(BASE)

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lycosa needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(BASE) $(STAMP)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis demo
