# Everything one does with this repository. `make` without a target lists the targets.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# The sources of the window's page.
PAGE := $(shell find frontend/src frontend/public frontend/*.* -type f 2>/dev/null | grep -v '\.test\.')

.PHONY: help setup run chat dev build cli types test test-all e2e crash fuzz bench lint fmt screens screenshots icons parts package package-test fresh-machine clean

help: ## List the targets
	@printf 'ContextInfinity: LLM conversations with unlimited, crash-proof history.\n\n'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what building and testing need (listed in scripts/setup)
	@scripts/setup test

run: ## Install what is missing, build, and open the window (without a display: start a chat in the terminal)
	@scripts/run

chat: ## Start a chat in the terminal; needs only Go
	@scripts/chat

build: page ## Build the program: build/bin/contextinfinity
	@scripts/build window

cli: ## Build only the command line, without the window and GTK: build/bin/contextinfinity-cli
	@scripts/setup cli
	@scripts/build cli

dev: setup-run ## Open the window on Vite's server, with live reload of the page
	@scripts/dev

types: ## Generate the page's types and services from backend/api
	@go test -buildvcs=false -run TestThePageHasTheTypesOfTheProgram ./backend/internal/archtest -update

test: ## Install what is missing and test every feature, in minutes (RERUN=1: also unchanged parts)
	@scripts/test

test-all: ## Test everything, with full matrices and the race detector; before a release, as well as crash
	@TEST_ALL=1 scripts/test

e2e: ## Run only the tests that drive the built program: browser and real window
	@scripts/test browser window

crash: export TEST_ALL = 1
crash: export CRASH = 1
crash: ## Test durability: kill -9, power failures, I/O faults, damage (SEED=n repeats a run, RESTARTS=1000)
	@go test -buildvcs=false -count=1 -timeout 1h -run TestCallsRunAtMostOnceAfterKills ./backend/turn
	@go test -buildvcs=false -count=1 -timeout 1h -run TestALongAnswerIsReadInBoundedMemory ./test/process
	@scripts/setup crash
	@go test -buildvcs=false -count=1 -timeout 1h -run 'Place|Server' ./backend/vault ./backend/store ./test/process
	@go test -buildvcs=false -count=1 -timeout 12h -run 'TestDevicesConverge|TestAFlipped|TestEveryTable|TestEveryFlip' ./backend/store
	@go test -buildvcs=false -count=1 -timeout 12h -v ./test/crash | grep -vE '^ *(=== |--- (PASS|SKIP))'

fuzz: ## Fuzz everything that reads external data: FUZZTIME=30s for each target
	@scripts/fuzz

bench: ## Run the benchmarks and print a table with ratios
	@scripts/bench

lint: ## Run golangci-lint with the rules of .golangci.yml (the first run builds it, which takes some minutes)
	@scripts/lint

fmt: ## Format the Go code
	@gofmt -w $$(find . -name '*.go' -not -path './frontend/*' -not -path '*/testdata/*')

screens: ## Take every screen at two sizes, light and dark, into build/screens, for review
	@scripts/screens

screenshots: ## Take the README's screenshots from the real program
	@scripts/screenshots

icons: ## Draw the icon files from build/appicon.svg
	@scripts/icons

parts: ## Draw docs/parts again: the tokens, and every shared component in each state
	@scripts/setup test
	@cd frontend && npm run --silent parts

package: setup-run ## Build the installers and archives in build/package; KIND=deb, tar, windows or macos builds one
	@scripts/package $(or $(KIND),all)

package-test: ## Test the packages: install, start, use and remove them in a clean Debian (root, debootstrap)
	@scripts/setup package
	@scripts/package-test

fresh-machine: ## Test `make test` and `make run` on a clean Debian 12 (root, debootstrap, about 3 GB)
	@scripts/fresh-machine

clean: ## Remove the build output; conversations are stored elsewhere and stay
	@rm -rf build/bin build/package frontend/e2e/results
	@find frontend/dist -mindepth 1 ! -name gitkeep -delete 2>/dev/null || true

# ---------------------------------------------------------------- what the targets above need

# Setup is fast if nothing is missing, and make would not notice a change of the machine.
.PHONY: setup-run
setup-run:
	@scripts/setup run

# The page alone, for those who build the program with their own flags.
.PHONY: page
page: setup-run frontend/dist/index.html

frontend/dist/index.html: $(PAGE) frontend/package-lock.json | setup-run
	@cd frontend && npm run --silent build
