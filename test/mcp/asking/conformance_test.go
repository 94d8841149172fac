package asking

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// scenarios of the official conformance suite for clients, by the version of the suite and the revision of the
// protocol. Left out are:
//
//   - auth/basic-cimd: a client that is identified by a document on the web. This program has none, so it registers
//     itself or is registered by hand;
//   - auth/2025-03-26-oauth-metadata-backcompat in the suite of 2025: its metadata names another issuer than its
//     address, which must be rejected now (auth/metadata-issuer-mismatch); the suite of 2026 is correct;
//   - drafts in the suite of 2025 that the suite of 2026 has in their final form: auth/resource-mismatch,
//     auth/offline-access-*;
//   - extensions that are not implemented: auth/client-credentials-*, auth/enterprise-managed-authorization,
//     auth/cross-app-access-complete-flow, auth/dpop*, auth/wif-jwt-bearer, sep-2640-client-* (skills).
var scenarios = map[string]map[string][]string{
	"conformance-2025": {"": {
		"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry",
		"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3",
		"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit",
		"auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration",
		"auth/2025-03-26-oauth-endpoint-fallback",
	}},
	"conformance-2026": {
		"2025-03-26": {"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"},
		"2025-11-25": {
			"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation",
			"auth/metadata-default", "auth/scope-step-up", "auth/pre-registration", "auth/token-endpoint-auth-none",
		},
		"2026-07-28": {
			"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
			"json-schema-ref-no-deref", "json-schema-2020-12-preservation",
			"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/metadata-issuer-mismatch",
			"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up", "auth/scope-retry-limit",
			"auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration",
			"auth/resource-mismatch", "auth/authorization-server-migration", "auth/offline-access-scope", "auth/offline-access-not-supported",
			"auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing", "auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized",
		},
	},
}

var verdict = regexp.MustCompile(`Passed: (\d+)/(\d+), (\d+) failed`)

// The everyday form tries every eighth scenario of each suite and revision.
func TestConformance(t *testing.T) {
	dir, nodePath := packages(t), node(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for suite, revisions := range scenarios {
		for revision, names := range revisions {
			for _, name := range testtier.Sample(names, (len(names)+7)/8) {
				t.Run(suite+"/"+revision+"/"+name, func(t *testing.T) {
					t.Parallel()
					ctx, cancel := context.WithTimeout(t.Context(), 2*harness.Patience)
					defer cancel()
					args := []string{
						filepath.Join(dir, suite, "dist", "index.js"), "client", "--command", self, "--scenario", name, "--output-dir", t.TempDir(),
						"--timeout", strconv.FormatInt(harness.Patience.Milliseconds(), 10),
					}
					if revision != "" {
						args = append(args, "--spec-version", revision)
					}
					var out bytes.Buffer
					cmd := exec.CommandContext(ctx, nodePath, args...) // #nosec G204 -- of tests
					cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &out, t.TempDir()
					cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(nodePath)+string(os.PathListSeparator)+os.Getenv("PATH"))
					err := cmd.Run()
					v := verdict.FindStringSubmatch(out.String())
					if v == nil {
						t.Fatalf("no verdict: %v\n%s", err, harness.Clip(out.String()))
					}
					if passed, _ := strconv.Atoi(v[1]); passed == 0 || v[1] != v[2] || v[3] != "0" || err != nil {
						t.Errorf("%v\n%s", err, harness.Clip(out.String()))
					}
				})
			}
		}
	}
}

// packages returns where scripts/setup test installs the test servers.
func packages(t *testing.T) string {
	t.Helper()
	dir := harness.InModule("test", "mcp", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, "conformance-2026")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the test servers are not installed: scripts/setup test installs them")
		}
		t.Skip("the test servers are not installed: scripts/setup test installs them")
	}
	return dir
}

// node returns the path of Node 22, which the conformance suite needs.
func node(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(packages(t), "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: scripts/setup test installs it")
	}
	return path
}
