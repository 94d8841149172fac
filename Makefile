# Everything one does with this repository. `make` without a target lists the targets.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# The sources of the window's page.
PAGE := $(shell find frontend/src frontend/public frontend/*.* -type f 2>/dev/null | grep -v '\.test\.')

.PHONY: help setup run chat dev build cli types test test-race e2e crash fuzz bench lint fmt screens screenshots icons parts package package-test fresh-machine clean

help: ## Say what can be done here
	@printf 'ContextInfinity: LLM conversations with unlimited, crash-proof history.\n\n'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what building and testing need (scripts/setup says what)
	@scripts/setup test

run: ## Install what is missing, build, and open the window (without a display: talk in the terminal)
	@scripts/run

chat: ## Talk in the terminal; needs Go and nothing else
	@scripts/chat

build: page ## Build the program: build/bin/contextinfinity
	@scripts/build window

cli: ## Build the command line alone, without window or GTK: build/bin/contextinfinity-cli
	@scripts/setup cli
	@scripts/build cli

dev: setup-run ## Open the window on Vite's server, with live reload of the page
	@scripts/dev

types: ## Generate the page's types and services from backend/api
	@go test -buildvcs=false -run TestThePageHasTheTypesOfTheProgram ./backend/internal/archtest -update

test: ## Everything: checks, Go, page, browser, real window, Windows build (RERUN=1: also what has not changed)
	@scripts/test

test-race: ## All Go tests with the race detector; before a release, together with crash
	@scripts/test race

e2e: ## Only the tests that drive the built program: browser and real window
	@scripts/test browser window

crash: ## Try to break it: kill -9, loss of power, I/O faults, damage (SEED=n repeats a run, RESTARTS=1000)
	@CONTEXTINFINITY_CRASH=full go test -buildvcs=false -count=1 -timeout 2h -run 'TestACallRunsAtMostOnce' ./test/process
	@CONTEXTINFINITY_CRASH=full go test -buildvcs=false -count=1 -timeout 1h -run 'TestAtMostOnceHoweverItIsKilled' ./backend/turn
	@go run -buildvcs=false ./scripts/crash $(if $(SEED),-seed $(SEED)) $(if $(RESTARTS),-restarts $(RESTARTS))

fuzz: ## Made-up bytes for everything that reads from outside: FUZZTIME=30s for each target
	@scripts/fuzz

bench: ## Benchmarks, as a table with ratios
	@scripts/bench

lint: ## golangci-lint with the rules of .golangci.yml (builds it the first time, some minutes)
	@scripts/lint

fmt: ## Format the Go code
	@gofmt -w $$(find . -name '*.go' -not -path './frontend/*' -not -path '*/testdata/*')

screens: ## Take every screen at two sizes, light and dark, into build/screens, to be looked at
	@scripts/screens

screenshots: ## Take the README's pictures from the real program
	@scripts/screenshots

icons: ## Draw the icon files from build/appicon.svg
	@scripts/icons

parts: ## Draw docs/parts again: the tokens, and every shared component in each state
	@scripts/setup test
	@cd frontend && npm run --silent parts

package: setup-run ## Make what a person installs, into build/package; KIND=deb, tar, windows or macos makes one
	@scripts/package $(or $(KIND),all)

package-test: ## Prove the packages: in a clean Debian installed, started, used and removed (root, debootstrap)
	@scripts/setup package
	@scripts/package-test

fresh-machine: ## Prove `make test` and `make run` on a clean Debian 12 (root, debootstrap, some 3 GB)
	@scripts/fresh-machine

clean: ## Remove what was built; conversations are elsewhere and stay
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
