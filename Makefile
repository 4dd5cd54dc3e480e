# kproxy needs Go, make and a C compiler. `make` lists the targets.

GO       ?= go
ARGS     ?=
FUZZTIME ?= 30s

# What chaos does, each of its tests.
OPERATIONS ?= 1000000
SEED       ?= 1

LINT_VERSION := v2.15.0
# The version is in the name, so that a new one is installed when it changes.
LINT := $(CURDIR)/.bin/golangci-lint-$(LINT_VERSION)

NFPM_VERSION := v2.43.0
NFPM         := $(CURDIR)/.bin/nfpm-$(NFPM_VERSION)

# The packages with goroutines. None of them may depend on pg_query: the race
# detector would compile its C code a second time, which takes minutes. Those that
# take longest come first, so that the others run beside them. Their tests wait for servers
# more than for processors.
RACE := ./sync/... ./proxy/... ./internal/pgserver/... ./internal/console/... ./internal/observe/...

# What drives the built program, with real servers and clients.
INTEGRATION := ./integration/... ./internal/bench/speed ./internal/bench/day

# What a slow machine needs for the tests of a package; one that hangs is to be told of.
# What go test would vet by itself, lint does.
TEST := test -vet=off -timeout 60m

# Tests of the built program take this one, so that it is linked once. Whoever uses it depends on build.
PROGRAM := KPROXY_PROGRAM=$(CURDIR)/bin/kproxy

# Whose mutants are tried: MUTATED="./catalog/..." tries others.
MUTATED ?= ./anonymizer/lineage ./anonymizer/privacy ./anonymizer/incremental ./rewrite ./proxy/pool ./sync

# What test-matrix runs on each version of PostgreSQL: the packages whose tests
# start servers. VERSIONS restricts the versions, as in VERSIONS="13 18".
MATRIX   := ./internal/pgserver/... ./proxy/... ./sync/... ./catalog/... ./rewrite/... ./internal/verify/... ./integration/...
VERSIONS ?=

.DEFAULT_GOAL := help
.PHONY: help build compiler man licenses demo postgres race unit integration elsewhere quick test test-matrix mutants regress suites pipelines bi bi-usual cdnow metamorphic chaos speed tools lint bench bench-full fuzz cover structure release packages sbom release-test clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

build: compiler ## build bin/kproxy
	$(GO) build -o bin/kproxy ./cmd/kproxy

compiler:
	@command -v "$$($(GO) env CC)" >/dev/null || \
		{ echo "kproxy needs a C compiler: install gcc, or set CC" >&2; exit 1; }

man: build ## write the manual pages into bin/man, and completions for shells into bin/completions
	bin/kproxy generate man bin/man
	bin/kproxy generate completion bin/completions

licenses: build ## write the licenses of what is linked into bin/kproxy, and its bill of materials, into bin
	packaging/sbom.sh bin/kproxy bin/third-party-licenses.txt >bin/kproxy.cdx.json

# exec: on Ctrl-C, make waits for kproxy itself and not for a shell that is
# gone before kproxy has cleaned up.
demo: build ## build and run the demonstration; its flags go into ARGS
	@exec bin/kproxy demo $(ARGS)

postgres: ## find or install the PostgreSQL server binaries that the tests need
	@$(GO) run ./internal/pgserver/ensure

race: postgres ## test the packages with goroutines under the race detector
	@if $(GO) list -deps -test $(RACE) | grep pg_query; then \
		echo "a package in RACE depends on pg_query" >&2; exit 1; fi
	$(GO) $(TEST) -race -parallel 4 $(RACE)
	$(GO) $(TEST) -race -run OnAnyCores ./anonymizer/methods

unit: build postgres ## run the tests that neither race nor integration runs
	$(PROGRAM) $(GO) $(TEST) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACE) $(INTEGRATION))")

# -count 1: go test does not know of what the program is built, and would repeat old results.
integration: build postgres ## run the tests of the built program
	$(PROGRAM) $(GO) $(TEST) -count 1 $(INTEGRATION)

# In Turkish lower('I') is not 'i'. Kathmandu is 5:45 h ahead. The pinned minor version is often
# another than the machine's.
TELLING   := TestQueries|TestPsql$$|ServerFacts|ValuesOf|Builtins|Positions$$|EveryFunction|Startup|SystemWords|Strangers
ELSEWHERE := KPROXY_PG_LOCALE=tr_TR.UTF-8 KPROXY_PG_TIMEZONE=Asia/Kathmandu

elsewhere: build ## run tests that tell of locales, time zones and minor versions, with others of each (as root, makes the locale)
	@locale -a | grep -qix 'tr_TR\.utf-\?8' || localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 || \
		{ echo "the locale tr_TR.UTF-8 is missing: apt-get install locales, and localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 as root" >&2; exit 1; }
	bin=$$(KPROXY_PG_VERSION=15 $(GO) run ./internal/pgserver/ensure -pinned) && \
		KPROXY_PG_BIN=$$bin $(ELSEWHERE) $(PROGRAM) $(GO) $(TEST) -count 1 -run '$(TELLING)' ./integration/metadata ./catalog/inspect ./rewrite

# Packages whose tests start no server, and whose tests are short.
QUICK := ./anonymizer/hierarchy ./anonymizer/privacy ./anonymizer/metric ./anonymizer/people ./catalog ./internal/config ./internal/console ./proxy/access ./proxy/listen ./cmd/kproxy

quick: compiler ## vet everything, and run the tests that need no server; for use while editing
	$(GO) vet ./...
	$(GO) $(TEST) -short $(QUICK)

# Tests wait for servers and for one another: with -j 2 the parts run beside each other.
test: unit race integration ## run all tests; -j 2 halves the time

test-matrix: compiler ## run the tests that need a server on PostgreSQL 13 to 18, or on VERSIONS
	@GO=$(GO) $(GO) run ./internal/bench/matrix -versions "$(VERSIONS)" $(MATRIX)

mutants: compiler postgres ## change one thing at a time in MUTATED's packages and print what no test notices; ARGS="-sample 0" tries all
	$(GO) run ./internal/bench/mutants $(ARGS) $(MUTATED)

regress: build postgres ## compare PostgreSQL 15's own regression tests, straight and through kproxy (Debian: fetches them into .regress)
	folder=$$(integration/regress.sh .regress) && \
		$(PROGRAM) $(GO) test ./integration -count 1 -timeout 25m -run 'TestRegress$$' -v -regress.folder "$$folder" $(ARGS)

suites: build postgres ## compare the test suites of pgx, lib/pq and libpq's pipelines, straight and through kproxy (Debian: fetches the last into .regress)
	folder=$$(integration/suites/source.sh .regress) && \
		$(PROGRAM) $(GO) test ./integration/suites -count 1 -timeout 30m -v -suites.all -suites.libpq "$$folder" $(ARGS)

pipelines: build postgres ## of suites, compare libpq's pipelines alone
	folder=$$(integration/suites/source.sh .regress) && \
		$(PROGRAM) $(GO) test ./integration/suites -count 1 -timeout 25m -v -run TestPipelines -suites.libpq "$$folder"

bi: bi-usual ## have Superset, Cube, Evidence, LibreOffice, R, analysts' packages of Python, Spark, Trino, PostGraphile, Prisma, PgTyped, Active Record, PHP, Adminer, Atlas, ogr2ogr, PgBouncer, HAProxy and Rust's clients work through kproxy (fetches 3 GB the first time)
	$(PROGRAM) $(GO) test ./integration/bi -count 1 -timeout 25m -v -run TestSuperset -bi.all $(ARGS)
	$(PROGRAM) $(GO) test ./integration/clients -count 1 -timeout 60m -v -run 'TestAnalysts|TestDbt|TestSpark|TestTrino|TestRust|TestSchemas|TestPgTyped|TestRuby|TestAtlas|TestOGR|TestPHP|TestAdminer|TestPgBouncer|TestHAProxy' -clients.all $(ARGS)

bi-usual: build postgres ## of bi, have Cube, Evidence, LibreOffice and R work (npm fetches 800 MB the first time)
	$(PROGRAM) $(GO) test ./integration/bi -count 1 -timeout 25m -v -skip TestSuperset -bi.all $(ARGS)

# A public set of persons with rows over time, which pip fetches with the package that has it.
CDNOW := .cdnow/lifetimes/datasets/CDNOW_master.txt

$(CDNOW):
	python3 -m pip download -q --no-deps -d .cdnow lifetimes==0.11.3
	python3 -m zipfile -e .cdnow/*.whl .cdnow

cdnow: compiler $(CDNOW) ## measure a release of the customers of CDNOW, in two tables (pip fetches them)
	$(GO) test ./internal/eval/linked -count 1 -v -run CDNOW -linked.cdnow "$(CURDIR)/$(CDNOW)"

# An hour or more. ARGS="-metamorphic.only ^plan:" tries some observables alone.
metamorphic: compiler postgres ## try everything that readers can ask against every hidden change of the source
	$(GO) test ./integration/metamorphic -count 1 -timeout 5h -v -metamorphic.sample 0 -metamorphic.each file $(ARGS)

speed: build postgres ## compare the speed with PgBouncer's and with direct connections (Linux with pgbouncer and pgbench); flags and what to measure go into ARGS
	$(GO) run ./internal/bench/speed -kproxy kproxy=bin/kproxy $(ARGS)

# darwin: nothing else compiles the event loops on kqueue.
lint: compiler $(LINT) ## lint and vet
	GOOS=darwin CGO_ENABLED=0 $(GO) vet ./proxy/...
	$(LINT) run ./...

tools: $(LINT) ## install what lint runs

$(LINT):
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(@D)/golangci-lint $@

# An hour or so. OPERATIONS and SEED choose others.
chaos: compiler postgres ## try the proxy with a million random operations, of sessions that do everything at once
	$(GO) test ./proxy/chaos -count 1 -timeout 3h -run Chaos -chaos.seed $(SEED) -chaos.operations $(OPERATIONS)

bench: build postgres ## measure what the documentation claims, beside the peers that are installed, and write docs/benchmarks.md; flags go into ARGS
	$(GO) run ./internal/bench $(ARGS)

# Some four hours, 14 GB of memory and 21 GB of disk, for which it looks first;
# `go run ./internal/bench -h` has them section by section. ARGS="-only sync" measures one alone,
# ARGS=-continue goes on where a run was interrupted.
bench-full: build postgres ## the same with large tables, many clients and a whole day
	$(GO) run ./internal/bench -full $(ARGS)

fuzz: compiler ## run each fuzz target for FUZZTIME
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

cover: compiler postgres ## write cover.out and print the share of statements that tests reach
	$(GO) test -timeout 25m -coverpkg ./... -coverprofile cover.out ./...
	$(GO) tool cover -func cover.out | tail -1

structure: compiler ## write docs/structure.md: lines by package, largest types, dead functions, clones (fetches two tools the first time)
	$(GO) run ./internal/bench/structure -out docs/structure.md

release: compiler $(NFPM) ## make .tar.gz, .deb, .rpm, bill of materials and sums in bin/release, the same bytes anywhere
	packaging/release.sh $(NFPM)

packages sbom: release

release-test: ## try what release made: contents, the program in it, lintian; twice for the same bytes
	packaging/try.sh

$(NFPM):
	GOBIN=$(@D) $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)
	mv $(@D)/nfpm $@

clean: ## remove what build, cover and the tools' installation made
	rm -rf bin .bin .regress cover.out
