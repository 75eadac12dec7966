# Two commands matter: `make demo` and `make test`. Both set up all they need in .venv.
# Works from any folder with `make -C <here> …`.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-fast zip lint notebook docs lock clean python java browser venv

VENV := .venv
PY := $(VENV)/bin/python
PYTHON ?=
CAPTURE := kafka-4.2.0
SOURCE := lake/demo-source
# Two processes: each has a Spark session of its own, which wants 2 GB and seldom more than one core.
SIDE_BY_SIDE := -n 2 --dist loadfile --no-loadscope-reorder
export PYTHONPATH := $(CURDIR)
# What is compiled is kept, whatever a container's environment says: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo 'make demo       the whole way once, on a capture of a real broker, to findings and their report'
	@echo 'make test       all tests but those that take minutes each'
	@echo 'make test-long  those that take minutes each'
	@echo 'make test-fast  the tests that need no Spark'
	@echo 'make lint       lint, format, types, import boundaries'
	@echo 'make notebook   run the notebooks on the lake of the demo'
	@echo 'make docs       write the pages of docs/ that are generated'
	@echo 'make zip        dist/rebalance_analytics-<version>.zip for spark-submit --py-files'
	@echo 'make clean      remove what these made'

demo: venv java
	@$(PY) -m tests.support.captures $(CAPTURE) $(SOURCE)
	@$(PY) -m jobs.run_pipeline --settings conf/demo.toml --publish

test: venv java browser
	@$(PY) -m tests.support.spark_session > /dev/null
	@$(PY) -m pytest $(SIDE_BY_SIDE)

test-long: venv java browser
	@$(PY) -m pytest -m long

test-fast: venv
	@$(PY) -m pytest $(SIDE_BY_SIDE) -m 'not spark and not slow'

lint: venv
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

notebook: demo
	@REBALANCE__SPARK__PROPERTIES='$(CURDIR)/conf/spark-defaults-demo.conf' $(PY) notebooks/run_notebook.py

docs: venv
	@$(PY) -m docs.generator

# The same commit gives the same bytes.
zip: venv
	@rm -f dist/*.whl dist/*.zip
	@$(PY) -m tests.support.package dist

lock:
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --all-extras \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	  --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) lake build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache \
	  spark-warehouse metastore_db derby.log
	find . -name __pycache__ -prune -exec rm -rf {} +

# --- what all of these stand on ---

# The first Python that is new enough; made into the virtual environment only where there is none.
python:
	@if [ -x $(PY) ] && $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then exit 0; fi; \
	for each in $(PYTHON) python3 python python3.13 python3.12 python3.11 python3.10; do \
	  if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null; then \
	    "$$each" -c 'import venv, ensurepip' 2> /dev/null \
	      || { echo "missing: the venv module of $$each (Debian and Ubuntu: apt install python3-venv)" >&2; exit 2; }; \
	    echo "making $(VENV) with $$("$$each" --version)"; \
	    "$$each" -m venv --clear $(VENV); exit 0; \
	  fi; \
	done; \
	echo 'missing: Python 3.10 or newer' >&2; exit 2

# Installed anew only when the lock has other contents than those that were installed. Of all that is installed, what jobs
# import is compiled, once, so that no run has to wait for it.
venv: python
	@if ! cmp -s requirements.lock $(VENV)/installed.lock; then \
	  echo 'installing the pinned dependencies (the first time this downloads about 650 MB)'; \
	  $(PY) -m pip install --quiet --disable-pip-version-check --use-pep517 --require-hashes --no-compile \
	    -r requirements.lock; \
	  $(PY) -c 'import great_expectations, jobs.run_pipeline, jobs.publish_report'; \
	  cp requirements.lock $(VENV)/installed.lock; \
	fi

# The tests look at the report with it. Installed where that can be done without asking: as root, on Debian and Ubuntu.
browser:
	@if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  echo 'installing Chromium and its driver'; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium chromium-driver > /dev/null; \
	else \
	  echo 'missing: Chromium and its driver (Debian and Ubuntu: apt install chromium chromium-driver)' >&2; exit 2; \
	fi

java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	version="$$("$$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1 || true)"; \
	case "$$version" in \
	  17|21) ;; \
	  '') echo 'missing: Java 17 or 21 (not on the PATH, and not at JAVA_HOME)' >&2; exit 2 ;; \
	  *) echo "missing: Java 17 or 21 (found $$version; set JAVA_HOME)" >&2; exit 2 ;; \
	esac
