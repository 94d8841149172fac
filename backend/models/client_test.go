package models_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/models"
)

// A server with a certificate of one's own authority is trusted with providers.ca_file, from the next request on.
func TestCertificateAuthorities(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	current := ""
	client := models.NewHTTPClient(func() string { return current })
	defer client.CloseIdleConnections()
	for _, c := range []struct{ file, problem string }{
		{"", "certificate"}, {broken, "no certificate in PEM form"}, {filepath.Join(t.TempDir(), "none"), "cannot be read"}, {file, ""},
	} {
		current = c.file
		resp, err := client.Get(server.URL)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v", c.file, err)
		}
	}
}

// ALL_PROXY is used where HTTPS_PROXY and HTTP_PROXY are not set, also for SOCKS; a proxy that does not answer is named.
func TestAllProxy(t *testing.T) {
	t.Setenv("ALL_PROXY", "socks5://127.0.0.1:9")
	t.Setenv("HTTPS_PROXY", "")
	t.Setenv("HTTP_PROXY", "")
	client := models.NewHTTPClient(func() string { return "" })
	_, err := client.Get("http://provider.example/v1")
	if err == nil || !strings.Contains(err.Error(), "proxyconnect") {
		t.Errorf("%v", err)
	}
}
