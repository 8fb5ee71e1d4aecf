# `make help` says what there is. Everything lives in .venv and target; nothing needs root.

PYTHON  ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
             $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN     := .venv/bin
RUST    := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Tests wait longer than they compute: twice as many at a time as there are processors.
JOBS    ?= $(shell n=$$(nproc); echo $$((n < 4 ? 5 * n / 2 : 8)))
FUZZ_S  ?= 30
EXAMPLES := $(shell find docs/examples -name findings.json)
PYTEST  := $(BIN)/pytest -n $(JOBS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup engine wheel quickstart studies-full test test-all test-all-python test-rust test-python test-browser test-extended test-system test-under-load fresh check check-python check-rust fix golden-accept schemas validate validate-live validate-page audit licences sbom fuzz support torture bench-faults bench-engine bench-loops bench-kernels bench-generators bench-judge bench-overhead bench-cluster bench-laboratory bench-queue bench-growth bench-serve bench-check bench-time bench-truth bench-systems bench-visits bench-report docs examples clean

help: ## This page
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: .venv/engine-built .venv/installed ## Virtual environment, package and engine

quickstart: setup ## Run the first study: how much longer does a page take over HTTPS?
	@$(BIN)/steelyard run studies/quickstart

studies-full: setup ## The studies of five published comparisons, days of them; again: it goes on. DRY=1 the plan, REDUCED=1 the small variants, BRIEF=1 these in an hour and a half, ALSO=tuned-power
	@$(BIN)/python -m bench.published $(if $(DRY),--dry) $(if $(REDUCED),--reduced) $(if $(BRIEF),--brief) $(if $(ALSO),--also $(ALSO)) $(if $(RESULTS),--results $(RESULTS))

test: setup test-rust test-python ## What every change needs: all kinds of tests, one of each that takes long

test-all: setup test-rust test-all-python ## Every test that needs neither this machine for itself nor an hour: what CI runs

test-all-python: setup .venv/with-browser ## The part of it that is written in Python
	@$(MAKE) --no-print-directory -j2 test-no-browser test-browser

.PHONY: test-no-browser
test-no-browser:
	$(PYTEST) -m 'not system and not validate' --durations 30 --ignore tests/browser

docs: .venv/with-docs examples ## The documentation as a site with a search, in build/docs; warnings and broken links are errors
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html --conf-dir docs . build/docs
	@echo "steelyard: build/docs/index.html" >&2

examples: setup build/examples/.made ## The reports of docs/examples as pages, in build/examples, from the findings that are kept there

build/examples/.made: $(EXAMPLES) $(shell find src/steelyard/report -type f -not -name '*.pyc')
	@rm -rf $(@D) && mkdir -p $(@D) && (cd docs/examples && cp --parents $(EXAMPLES:docs/examples/%=%) ../../$(@D))
	@$(BIN)/steelyard report $(EXAMPLES:docs/%=build/%) >/dev/null
	@touch $@

fresh: ## As root: both commands of README.md on a plain Debian 12 that has what README.md installs; needs mmdebstrap
	tests/fresh/run

check: check-python check-rust ## What CI checks besides tests: style, types, imports, lints

check-python: setup ## The part of it that looks at Python
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

check-rust: ## The part of it that looks at Rust
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

audit: .venv/with-audit ## Dependencies: licences, sources, versions; known vulnerabilities where their databases can be reached
	@$(BIN)/python -m audit check
	@$(BIN)/python -m audit advisories

licences: .venv/with-audit .venv/with-docs .venv/with-browser ## Write docs/reference/licences.md again, after a change of dependencies
	@$(BIN)/python -m audit write

sbom: .venv/with-audit ## What is shipped, as CycloneDX, in build/steelyard.cdx.json
	@$(BIN)/python -m audit sbom

test-rust: setup ## Tests of the engine
	cargo test --workspace --locked

fuzz: ## Fuzz every parser, FUZZ_S seconds each; needs cargo-fuzz (cargo install cargo-fuzz)
	@command -v cargo-fuzz >/dev/null || { echo "steelyard: cargo-fuzz is needed: cargo install cargo-fuzz" >&2; exit 3; }
	@cd fuzz && RUSTC_BOOTSTRAP=1 cargo fuzz build -s none && for target in $$(cargo fuzz list); do \
	  echo "steelyard: fuzzing $$target" >&2; mkdir -p grown/$$target; \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run -s none $$target grown/$$target corpus/$$target -- \
	    -max_total_time=$(FUZZ_S) -max_len=2048 -timeout=5 -verbosity=0 || exit 1; done

test-python: setup ## Tests of the laboratory, with the engine
	$(PYTEST) -m 'not extended and not system and not validate' --ignore tests/browser

# Apart from the others: what drives the browser keeps an event loop running in its process.
test-browser: .venv/with-browser ## Reports and served pages in Chromium, as a person opens them
	$(BIN)/pytest -n 2 --dist loadfile tests/browser

test-extended: setup ## The others of each kind of test, and the platforms
	$(PYTEST) -m 'extended and not system and not validate' tests/calibration tests/integration tests/platforms

test-under-load: setup ## make test-all TIMES=3 times beside stress-ng --cpu LOAD=4; needs stress-ng
	@tests/under_load $(or $(LOAD),4) $(or $(TIMES),3) $(MAKE) test-all

test-system: setup ## As root: a hundred kills that restore must take back, and what else needs the whole machine. PASSED=FILE goes on where a run broke off
	$(if $(PASSED),PASSED=$(PASSED)) $(BIN)/pytest -m system tests/system tests/platforms

validate: setup ## What the judge promises, simulated: writes docs/methods/validation.md. BUDGET=30 (minutes) STUDIES=20000 ONLY='G1 G2' CLUSTER=local:8
	$(BIN)/python -m tests.calibration.validate $(if $(BUDGET),--minutes $(BUDGET)) $(if $(STUDIES),--studies $(STUDIES)) $(if $(ONLY),--only $(ONLY)) $(if $(CLUSTER),--cluster $(CLUSTER))
	$(if $(ONLY)$(STUDIES)$(BUDGET),,$(BIN)/pytest -n $(JOBS) -m validate)

validate-live: setup ## Whole studies of equal systems on this machine, until there are STUDIES=60 of them; MINUTES=30
	$(BIN)/python -m tests.calibration.live --studies $(or $(STUDIES),60) $(if $(MINUTES),--minutes $(MINUTES))
	$(BIN)/python -m tests.calibration.validate --page

validate-page: setup ## docs/methods/validation.md again, from what was run before; measures nothing
	$(BIN)/python -m tests.calibration.validate --page

support: setup ## Run the tests that docs/reference/support.md rests on, and write it; SYSTEM=1 as root with those of make test-system
	@mkdir -p build
	-$(PYTEST) --junitxml build/support.xml -m 'not system and not validate' tests/integration tests/platforms tests/unit/imports tests/unit/report
	-$(BIN)/pytest -n 2 --dist loadfile --junitxml build/support-browser.xml tests/browser
	-$(if $(SYSTEM),$(BIN)/pytest --junitxml build/support-system.xml -m system tests/system)
	$(BIN)/python -m tests.support build/support.xml build/support-browser.xml $(if $(SYSTEM),build/support-system.xml)

torture: setup ## Faults at every step of short runs, and kills: 0 lost, 0 repeated, 0 left? MINUTES=10 JOBS=2; WRITE=1 renews docs/methods/reliability.md
	$(BIN)/python -m bench.torture --minutes $(or $(MINUTES),10) --jobs $(JOBS) $(if $(WRITE),--write-page)

bench-faults: setup ## As root: faults injected into one system's trials, systems limited by one resource: caught, named right? MINUTES=30; WRITE=1 renews docs/methods/injected-faults.md
	$(BIN)/python -m bench.injected --minutes $(or $(MINUTES),30) $(if $(WRITE),--write-page)

bench-engine: setup ## Every protocol of the engine against its peers, interleaved; bench/README.md
	$(BIN)/python -m bench.engine

bench-loops: setup ## What io_uring would save: minimal clients of a ring and of epoll, interleaved with the engine and wrk; as root
	$(BIN)/python -m bench.engine.loops

bench-kernels: setup ## linpack against OpenBLAS and triad against C, interleaved
	$(BIN)/python -m bench.kernels_against_peers

bench-generators: setup ## One load from 1 to 4 generators in network namespaces: is the sum what was asked? Needs root. GENERATORS='--blocks 16'
	$(BIN)/python -m bench.generators $(GENERATORS)

bench-judge: setup ## How long verdicts, intervals and factors take, against the same without shortcuts
	$(BIN)/python -m bench.judge

bench-overhead: setup ## What the controller costs per trial besides reset, warm-up and window
	$(BIN)/python bench/controller_overhead.py

bench-growth: setup ## Does a trial cost the controller the same, in time and memory, after TRIALS=5000 as at first?
	$(BIN)/python bench/growth.py $(TRIALS)

bench-systems: setup ## Resets of containers and guests to an agent that answers, starts on a barrier; needs root and images
	$(BIN)/python -m bench.systems $(SYSTEMS)

bench-report: setup ## How long a report of 50 to 100,000 trials takes, its memory, its size, and how they grow
	$(BIN)/python -m bench.report

bench-archive: setup ## How packed runs are opened, read, judged and queried as they grow. TRIALS='10000 --steps open records query'
	$(BIN)/python -m bench.archive $(TRIALS)

bench-cluster: setup ## Batches of validation by a Dask cluster against one process. CLUSTER='--cluster local:2 --batches 5000'
	$(BIN)/python -m bench.cluster $(CLUSTER)

bench-laboratory: setup ## What a verdict on all machines of a laboratory takes as they become more. MACHINES='3 10 30 --visits 24'
	$(BIN)/python -m bench.laboratory $(MACHINES)

bench-queue: setup ## As root: 20 studies of 3 users on 4 machines of a Slurm that is killed at random. QUEUE='--studies 20 --write-page'
	$(BIN)/python -m bench.queue $(QUEUE)

bench-visits: setup ## How sure equal time makes: visits with a reset against short ones of systems that stay up. ROUNDS=3 SECONDS=50
	$(BIN)/python -m bench.visits $(or $(ROUNDS),3) $(or $(SECONDS),50)

bench-serve: setup ## How long the list of RUNS=10000 runs takes, cold and warm
	$(BIN)/python -m bench.serve $(RUNS)

bench-check: setup ## How many seeded errors steelyard check finds, and what clean tables give
	$(BIN)/python -m bench.check

bench-time: setup ## Equal commands, and commands 2 % apart, beside hyperfine: false verdicts, power, time. ROUNDS=20 SECONDS=6
	$(BIN)/python -m bench.beside_hyperfine $(or $(ROUNDS),20) $(or $(SECONDS),6)

bench-truth: setup ## Does steelyard, and do its peers, report what happened? TRUTH='--soak 30 --write-page'
	$(BIN)/python -m bench.truth $(TRUTH)

fix: setup ## Format, and mend what can be mended by itself
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	cargo fmt --all

schemas: setup ## Write schemas/ again from the types
	$(BIN)/steelyard-engine schema --out schemas
	$(BIN)/python -m steelyard.study.json_schema schemas
	$(BIN)/python -m steelyard.systems.images.json_schema > schemas/image-recipe.schema.json
	$(BIN)/python -m steelyard.report.json_schemas schemas

golden-accept: setup ## Accept what the golden tests see now; read the diff before you commit it
	STEELYARD_ACCEPT=1 $(BIN)/pytest tests/golden

engine: .venv/engine-built ## Build the engine again after a change to crates/

PIP_WHEEL := $(BIN)/python -m pip wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir

wheel: setup ## Wheels in build/wheels: with the engine for this machine, and in reading/ without it for any
	@STEELYARD_WHEEL_ENGINE=$(abspath $(BIN)/steelyard-engine) $(PIP_WHEEL) build/wheels
	@STEELYARD_WHEEL_ENGINE=none $(PIP_WHEEL) build/wheels/reading
	@ls build/wheels/*.whl build/wheels/reading/*.whl

.PHONY: wheels engines test-engines deb
wheels: engines ## Wheels for x86_64, aarch64, armv7l, riscv64 and i686 in build/wheels, each with the engines of all five, and a check of them
	@for machine in x86_64 aarch64 armv7l riscv64 i686; do \
	  STEELYARD_WHEEL_ENGINES=$(abspath build/engines) STEELYARD_WHEEL_MACHINE=$$machine $(PIP_WHEEL) build/wheels || exit 1; done
	@$(BIN)/python release/check_wheels.py build/wheels

engines: setup ## Engines of these five in build/engines, by a compiler of Debian that lies in build/toolchain; on Debian
	@release/engines build/engines

test-engines: setup ## Run the engines of other processors on them, emulated: truth tests and a study; needs qemu-system-arm, qemu-system-misc, opensbi
	@TESTS=1 release/engines build/engines
	$(BIN)/pytest -m system tests/system/test_other_processors.py

deb: ## A package for this Debian in build, of the wheel in build/wheels
	@release/deb

clean: ## Remove what was built; results stay
	rm -rf .venv target build

# Asked before anything is downloaded; the engine before the package, so that cargo's progress is seen.
.venv/made:
	@test -n "$(PYTHON)" || { echo "steelyard: Python 3.11 or newer is needed; install it, or say make PYTHON=/path/to/python3" >&2; exit 3; }
	@$(PYTHON) build_engine.py --check
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "steelyard: this Python cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 3; }
	@touch $@

.venv/engine-built: $(RUST) build_engine.py | .venv/made
	@echo "steelyard: 1 of 2: building the engine; cargo shows how far it is" >&2
	@began=$$(date +%s) && $(BIN)/python build_engine.py && echo "steelyard: built in $$(($$(date +%s) - began)) s" >&2
	@touch $@

.venv/installed: pyproject.toml constraints.txt hatch_build.py | .venv/engine-built
	@echo "steelyard: 2 of 2: installing Python packages into .venv" >&2
	@began=$$(date +%s) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' && \
	  echo "steelyard: installed in $$(($$(date +%s) - began)) s" >&2
	@touch $@

# What neither running nor testing the laboratory needs: .venv/with-docs, .venv/with-browser.
.venv/with-%: .venv/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'steelyard[$*]'
	@touch $@
