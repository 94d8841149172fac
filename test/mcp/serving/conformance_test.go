package serving

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"contextinfinity/test/testtier"
)

// scenarios of the official conformance suite that apply to this server, by the version of the suite. The others test
// optional features that this server does not have:
//
//   - tools of the suite's own: tools-call-* (text, image, audio, embedded resources, logging, errors, progress,
//     sampling, elicitation), json-schema-2020-12, server-sse-polling, elicitation-sep1034-defaults,
//     elicitation-sep1330-enums, http-custom-header-server-validation, input-required-result-* except for the one
//     below, and server-stateless, whose checks that need no such tool are covered by http-header-validation and the
//     tests of this package;
//   - resources and prompts: resources-*, prompts-*, completion-complete, sep-2164-resource-not-found;
//   - deprecated features: logging-set-level;
//   - extensions: tasks-*, sep-2640-skills-*.
var scenarios = map[string]map[string][]string{
	"conformance-2025": {"2025-11-25": {"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"}},
	"conformance-2026": {
		"2025-11-25": {"server-initialize", "server-session-lifecycle", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"},
		"2026-07-28": {
			"tools-list", "server-sse-multiple-streams", "dns-rebinding-protection", "caching", "http-header-validation",
			"input-required-result-unsupported-methods",
		},
	},
}

var verdict = regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`)

// The everyday form tries a third of the scenarios of each suite and revision.
func TestConformance(t *testing.T) {
	t.Parallel()
	h, address, token := overHTTP(t)
	proxied := authorized(t, address, token)
	for suite, revisions := range scenarios {
		path := filepath.Join(packages(t), suite, "dist", "index.js")
		for revision, names := range revisions {
			for _, name := range testtier.Sample(names, (len(names)+2)/3) {
				args := []string{"server", "--url", proxied, "--scenario", name, "--output-dir", t.TempDir()}
				if suite == "conformance-2026" {
					args = append(args, "--spec-version", revision)
				}
				out, code := script(t, h, path, args...)
				v := verdict.FindStringSubmatch(out)
				if v == nil {
					t.Errorf("%s %s %s: exit code %d, no verdict in %s", suite, revision, name, code, out)
					continue
				}
				if passed, _ := strconv.Atoi(v[1]); code != 0 || passed == 0 || v[1] != v[2] || v[3] != "0" {
					t.Errorf("%s %s %s: exit code %d\n%s", suite, revision, name, code, out)
				}
			}
		}
	}
	h.Clean()
}
