package models

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"contextinfinity/backend/chat"
)

// NewHTTPClient returns the client of all adapters. It has no overall time limit, because answers stream for minutes,
// only limits for setting up the connection. caFile returns providers.ca_file, whose authorities are trusted in addition
// to the system's.
func NewHTTPClient(caFile func() string) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = proxyFromEnvironment()
	t.ResponseHeaderTimeout = 0 // the turn's idle timeout applies instead
	t.TLSHandshakeTimeout = 15 * time.Second
	t.IdleConnTimeout = 60 * time.Second
	t.MaxIdleConnsPerHost = 8
	return &http.Client{Transport: &trusting{plain: t, caFile: caFile}}
}

// proxyFromEnvironment is http.ProxyFromEnvironment, also with ALL_PROXY, which names SOCKS proxies.
func proxyFromEnvironment() func(*http.Request) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	c.HTTPProxy, c.HTTPSProxy = cmp.Or(c.HTTPProxy, all), cmp.Or(c.HTTPSProxy, all)
	choose := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// trusting sends requests with the authorities of a file, which is read when its name changes.
type trusting struct {
	plain  *http.Transport
	caFile func() string

	mu   sync.Mutex
	file string
	with *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *trusting) RoundTrip(r *http.Request) (*http.Response, error) {
	transport, err := t.transport()
	if err != nil {
		return nil, err
	}
	return transport.RoundTrip(r)
}

func (t *trusting) transport() (*http.Transport, error) {
	file := t.caFile()
	if file == "" {
		return t.plain, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if file == t.file {
		return t.with, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, chat.WrapError(chat.CodeConfig, "models.ca", err,
			"The file of certificate authorities %s cannot be read; nothing was sent.", file).WithHint("correct providers.ca_file")
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, chat.Errorf(chat.CodeConfig, "models.ca",
			"The file %s has no certificate in PEM form; nothing was sent.", file).WithHint("correct providers.ca_file")
	}
	with := t.plain.Clone()
	with.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	t.file, t.with = file, with
	return with, nil
}

// CloseIdleConnections is called by http.Client.
func (t *trusting) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plain.CloseIdleConnections()
	if t.with != nil {
		t.with.CloseIdleConnections()
	}
}
