# Two commands do everything: `make app` and `make test`. Each sets up .venv when it is missing or outdated.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --disable-pip-version-check --requirement
# The locks pin everything with its sum: what the app runs on, and that with what tests need. `make locks` makes them
# from the two .txt files, which pin what we ask for ourselves; with LOCK=requirements.txt pip chooses the rest.
LOCK ?= requirements.lock
DEV_LOCK ?= requirements-dev.lock
PINNED := $(VENV)/.pinned
# The name of this stamp changes with what pyproject.toml says about the package, not with the settings of tools.
INSTALLED := $(VENV)/.installed-$(firstword $(shell sed '/^\[tool\.ruff\]/,$$d' pyproject.toml | cksum))
WORKERS ?= 2

.PHONY: app test lint hooks locks audit fuzz bench reproduce crc100k models clean

$(PINNED): $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(LOCK)
	touch $@

$(INSTALLED): $(DEV_LOCK) $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(DEV_LOCK)
	$(PY) -m pip install --disable-pip-version-check --no-deps --no-build-isolation --editable .
	rm -f $(VENV)/.installed*
	touch $(PINNED) $@

app: $(PINNED)
	PYTHONPATH=$(CURDIR) $(PY) -m streamlit run app.py

# Browser tests need a Chromium. Without one the other tests still run, and the summary says what did not;
# with CI=true its absence fails the tests.
test: $(INSTALLED) lint
	-$(PY) -m tests.support.chromium
	$(PY) -m pytest --numprocesses $(WORKERS) --dist worksteal

lint: $(INSTALLED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# From then on git checks every commit as `make lint` does; nothing is downloaded.
hooks: $(INSTALLED)
	$(PY) -m pre_commit install

UV := $(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet
locks: $(INSTALLED)
	$(PY) -m pip install --quiet --disable-pip-version-check uv==0.13.8
	$(UV) requirements.txt --output-file requirements.lock
	$(UV) requirements-dev.txt --constraint requirements.lock --output-file requirements-dev.lock

# Needs the internet; without it one sentence says so.
audit: $(INSTALLED)
	$(PY) scripts/audit_pins.py

# Guided by coverage where Atheris can be installed; it is needed for nothing else, so it is no requirement.
FUZZ_SECONDS ?= 120
fuzz: $(INSTALLED)
	-$(PY) -m pip install --quiet --disable-pip-version-check atheris==3.0.0
	$(PY) -m fuzz --seconds $(FUZZ_SECONDS)

bench: $(INSTALLED)
	for script in benchmarks/bench_*.py; do $(PY) $$script || exit 1; done
	$(PY) scripts/update_docs.py

# Hours; goes on where it was stopped.
reproduce: $(INSTALLED)
	$(PY) -m elimipl benchmark --table 2 --methods ELIMIPL DEMIPL

# From the server to models: hours and about 30 GB. Start it again after whatever stopped it: every command resumes.
CRC100K ?= data/crc100k
SETS := NCT-CRC-HE-100K CRC-VAL-HE-7K
crc100k: $(INSTALLED)
	for set in $(SETS); do $(PY) -m elimipl fetch $$set --whole --out $(CRC100K)/tiles/$$set \
		--classes DEB LYM MUC MUS NORM STR TUM || exit 1; done
	for generator in row sbn kmeansseg sift deep; do bags=$(CRC100K)/bags/$$generator; \
		for set in $(SETS); do $(PY) -m elimipl bags $(CRC100K)/tiles/$$set --generator $$generator --labels tissue7 \
			--source $$set --licence "CC BY 4.0" --crowd --out $$bags/$$set.shards || [ $$? = 1 ] || exit 2; done; \
		[ -e $(CRC100K)/models/crc100k-$$generator-elimipl.json ] || $(PY) -m elimipl train $$bags/NCT-CRC-HE-100K.shards \
			--test $$bags/CRC-VAL-HE-7K.shards --held-out .1 --epochs 30 --checkpoint $$bags/checkpoint --resume \
			--out $(CRC100K)/models --id crc100k-$$generator-elimipl || exit 2; done

# Needs the real tiles; see scripts/train_models.py.
models: $(INSTALLED)
	$(PY) scripts/train_models.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis artefacts
