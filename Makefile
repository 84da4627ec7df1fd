# SPDX-License-Identifier: GPL-3.0-or-later
# Everything runs in environments that tools/environments.py makes when needed.
# PYTHON chooses the Blender: 3.11 gives 4.5 LTS, 3.13 the newest.

PYTHON ?= python3
IN_UNIT = $(PYTHON) tools/environments.py unit
IN_LINT = $(PYTHON) tools/environments.py lint
IN_BLENDER = $(PYTHON) tools/environments.py blender
FUZZ_TRIALS ?= 2000

.PHONY: help demo test test-unit test-blender quick quick-unit quick-blender same gui-test fuzz scenes pictures manual bench blocking controllers package lint docs clean

help:
	@echo "make demo      add a skier, bake its turns, render a movie: out/"
	@echo "make test      unit tests, then tests in Blender"
	@echo "make quick     some of them, in three minutes"
	@echo "make same      record many bakes: out/, or compare with those recorded"
	@echo "make gui-test  tests in a Blender with a window (Linux, root, apt)"
	@echo "make fuzz      the whole random test: FUZZ_TRIALS=$(FUZZ_TRIALS)"
	@echo "make scenes    a .blend for each feature: out/scenes"
	@echo "make pictures  the manual's pictures: docs/images"
	@echo "make manual    the manual's tables of operators, settings and presets"
	@echo "make bench     measure, side by side with the plain way"
	@echo "make blocking  100 runs of an arm that blocks balls under falling weights"
	@echo "make controllers  what controllers cost, reach, land and park: half an hour"
	@echo "make package   zips to publish: dist/; WEBSITE=https://... where the project is"
	@echo "make lint      style and types"
	@echo "make clean     remove what the others made here"
	@echo "PYTHON=python3.13 after any of them takes the newest Blender"

demo:
	$(IN_BLENDER) tools/demo.py

test: test-unit test-blender

test-unit:
	$(IN_UNIT) -m pytest tests/unit

test-blender:
	$(IN_BLENDER) -m pytest tests/blender

# Side by side: neither needs more than one processor.
quick:
	$(MAKE) -j2 --output-sync=target quick-unit quick-blender

quick-unit:
	$(IN_UNIT) -m pytest tests/unit -m quick

quick-blender:
	$(IN_BLENDER) -m pytest tests/blender -m quick

same:
	$(IN_BLENDER) tools/same.py

gui-test:
	$(IN_UNIT) -m pytest tests/gui

fuzz:
	POISE_FUZZ_TRIALS=$(FUZZ_TRIALS) $(IN_BLENDER) -m pytest -s tests/blender/test_fuzz.py

scenes:
	$(IN_BLENDER) tools/make_scenes.py

pictures:
	$(IN_BLENDER) tools/pictures.py

manual:
	$(IN_BLENDER) tools/manual.py

bench:
	$(IN_BLENDER) tools/bench.py

blocking:
	$(IN_UNIT) tools/lab/blocking.py 100

controllers:
	$(IN_UNIT) tools/lab/pendulum_costs.py
	$(IN_UNIT) tools/lab/chain_arrivals.py
	$(IN_UNIT) tools/lab/lamp_landings.py
	$(IN_UNIT) tools/lab/parking_table.py 1000 90125

package:
	$(IN_BLENDER) tools/build.py package --website=$(WEBSITE)

lint:
	$(IN_LINT) -m ruff check .
	$(IN_LINT) -m mypy

clean:
	rm -rf build dist out .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
