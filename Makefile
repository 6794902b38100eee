# The two commands are `make play` and `make test`. Both install what they need into .venv, in the exact
# versions of requirements/.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
	2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# One worker more than cores, because server tests mostly wait.
WORKERS = $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RULE_CODE := src/axiogames/analysis/review/review_loops.py,$\
	src/axiogames/batch/loops.py,$\
	src/axiogames/games/*/board.py,$\
	src/axiogames/games/*/evaluation.py,$\
	src/axiogames/games/*/rules.py,$\
	src/axiogames/games/*/scoring.py,$\
	src/axiogames/games/runtime/bitsets.py,$\
	src/axiogames/games/runtime/defaults.py,$\
	src/axiogames/games/runtime/describing.py,$\
	src/axiogames/games/runtime/hands.py,$\
	src/axiogames/games/runtime/loops.py,$\
	src/axiogames/games/runtime/powers.py,$\
	src/axiogames/games/runtime/ranks.py,$\
	src/axiogames/games/runtime/view_loops.py,$\
	src/axiogames/games/runtime/xorshift.py,$\
	src/axiogames/players/bots/choosing.py,$\
	src/axiogames/players/bulk/loops.py,$\
	src/axiogames/players/evaluation/hidden_tiles.py,$\
	src/axiogames/players/evaluation/network.py,$\
	src/axiogames/players/evaluation/rollout_loops.py,$\
	src/axiogames/players/evaluation/utility.py,$\
	src/axiogames/players/search/search_loops.py

INTERPRETED_TESTS := $(wildcard tests/games/test_axio*.py tests/games/test_hex*.py tests/games/test_rota*.py tests/games/test_trio*.py) $\
	tests/analysis/review/test_review_loops.py $\
	tests/batch/test_batch.py $\
	tests/games/conformance/test_against_the_oracle.py $\
	tests/games/conformance/test_invariants.py $\
	tests/games/conformance/test_overrides.py $\
	tests/games/conformance/test_playouts.py $\
	tests/games/conformance/test_view_loops.py $\
	tests/games/runtime/test_bitsets.py $\
	tests/games/runtime/test_powers.py $\
	tests/games/runtime/test_xorshift.py $\
	tests/games/test_evaluation.py $\
	tests/games/test_rules_declaration.py $\
	tests/games/tiny_game $\
	tests/players/search/test_hidden_tiles.py $\
	tests/players/search/test_search_loops.py $\
	tests/players/test_choosing.py

# With this variable set, every program that a test starts would compile all modules to bytecode again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: play test slow setup lint unit compiled pages pytest interpreted crash format goldens wasm bundles docs lock bench clean

play: .venv/run.done
	@$(BIN)/axio serve --open

# pip and mypy use one core, so the rules are compiled at the same time. Server tests mostly wait, so the tests
# of the page and the interpreted tests run at the same time.
test: .venv/run.done
	@$(MAKE) --no-print-directory -j 2 lint compiled
	@$(MAKE) --no-print-directory -j 3 pages pytest interpreted

setup: .venv/dev.done

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "axio needs Python 3.11, 3.12, 3.13 or 3.14; none was found"; exit 1; }
	@echo "setting up .venv with $(PYTHON) ..."
	@$(PYTHON) -m venv .venv

.venv/run.done: requirements/run.txt pyproject.toml | .venv/bin/python
	@echo "installing axio and its server ..."
	@$(PIP) install --no-compile -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev.done: requirements/dev.txt requirements/bare.txt .venv/run.done
	@echo "installing the dependencies of the tests ..."
	@$(PIP) install --no-compile -r requirements/dev.txt
	@$(PIP) install --no-deps -r requirements/bare.txt
	@touch $@

.venv/docs.done: requirements/docs.txt .venv/dev.done
	@echo "installing the dependencies of the documentation ..."
	@$(PIP) install --no-compile -r requirements/docs.txt
	@touch $@

.venv/wasm.done: requirements/wasm.txt .venv/dev.done
	@echo "installing the linker for WebAssembly ..."
	@$(PIP) install --no-compile -r requirements/wasm.txt
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

unit: compiled
	@$(MAKE) --no-print-directory -j 2 pages pytest

# Compile once before the tests start; otherwise every worker would compile.
compiled: .venv/run.done
	$(BIN)/python -m tests.compiled

pytest: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore tests/web

# In one process, because the tests share a browser and a server with its data.
pages: setup
	$(BIN)/python -m pytest tests/web

# The same rules without compilation: coverage sees every line of rule code, and all of them must have run.
# At low priority, because some of the other tests measure time.
interpreted: setup
	$(BIN)/python -m coverage erase
	NUMBA_DISABLE_JIT=1 nice $(BIN)/python -m coverage run -m pytest -q -n auto --dist worksteal $(INTERPRETED_TESTS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include="$(RULE_CODE)" --show-missing --fail-under=100

# Tests that `make test` omits: repetitions on more games, screens and seeds.
slow: setup compiled .venv/docs.done .venv/wasm.done
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow

# Kill the server thousands of times in the middle of games; `make test` does so a few dozen times.
crash: setup
	$(BIN)/python -m tests.server.crash --kills 3000

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

goldens: setup
	$(BIN)/python -m tests.games.goldens.make

# The rules for the browser: run it after a change of rule code, and commit the files.
wasm: .venv/wasm.done
	$(BIN)/python -m tools.wasm

# The scripts, styles and texts of the page as the server serves them. Needs Node and npm.
bundles: setup tools/page/node_modules/.package-lock.json
	$(BIN)/python -m tools.page.generate
	node tools/page/build.mjs

tools/page/node_modules/.package-lock.json: tools/page/package-lock.json
	npm ci --prefix tools/page --silent --no-fund --no-audit
	@touch $@

# Warnings are errors.
docs: .venv/docs.done
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet --jobs auto docs build/docs
	@echo "the documentation is in build/docs/index.html"

bench: setup
	$(BIN)/axio bench
	$(BIN)/python -m benchmarks.server

# Needs uv (pip install uv), which resolves for all supported versions and systems at once.
# Without the extra `cuda`: its packages are large, and the tests run without a GPU.
lock: TESTED := --extra server --extra arena --extra cluster --extra data --extra rl
lock: COMPILE := uv pip compile --universal --no-header --no-annotate --python-version 3.11 pyproject.toml
lock:
	$(COMPILE) --extra server --group build -o requirements/run.txt
	$(COMPILE) $(TESTED) --group dev -o requirements/dev.txt
	uv pip compile --universal --no-header --no-annotate --python-version 3.11 --constraint requirements/dev.txt \
		--group pyproject.toml:docs -o requirements/docs.txt
	uv pip compile --universal --no-header --no-annotate --python-version 3.11 --group pyproject.toml:wasm \
		-o requirements/wasm.txt

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
