package updates

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
)

func checker(feed, running string) *Checker {
	return &Checker{Feed: func() string { return feed }, Daily: func() bool { return false }, Running: running, Client: NewClient(), Now: time.Now}
}

// newFeed starts a feed that gives the same response to every request, and records the requests.
func newFeed(t *testing.T, status int, header http.Header, body string) (url string, got *[]*http.Request) {
	t.Helper()
	got = new([]*http.Request)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = append(*got, r)
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/releases?limit=5", got
}

const releases = `[{"tag_name":"v1.9.0","html_url":"https://example.org/1.9.0"},{"tag_name":"v1.10.0","html_url":"https://example.org/1.10.0"},
	{"tag_name":"v2.0.0","draft":true},{"tag_name":"v2.0.1","prerelease":true},{"tag_name":"v2.0.2-rc.1"},{"tag_name":"nightly"},{"tag_name":"v3"}]`

// Versions are compared by precedence; drafts, prereleases and other tags are not releases.
func TestTheNewestReleaseIsFound(t *testing.T) {
	url, _ := newFeed(t, 200, nil, releases)
	for running, want := range map[string]Verdict{
		"1.9.9": VerdictNewer, "1.10.0": VerdictCurrent, "1.10.0+5.gabc1234": VerdictCurrent, "1.10.1": VerdictCurrent, "1.10.0-dev.5+gabc1234.dirty": VerdictNewer,
		"unknown": VerdictUnknown, "": VerdictUnknown,
	} {
		r, err := checker(url, running).Check(t.Context())
		if err != nil || r.Verdict != want || r.Newest != "1.10.0" || r.Page != "https://example.org/1.10.0" || r.Running != running {
			t.Errorf("%q: %+v (%v), want %s", running, r, err, want)
		}
	}
	for body, page := range map[string]string{
		`{"version":"1.2.3","page":"https://example.org/x"}`:       "https://example.org/x",
		`{"tag_name":"1.2.3","html_url":"javascript:alert(1)"}`:    "",
		`  {"tag_name":"v1.2.3","html_url":"http://example.org/"}`: "",
	} {
		url, _ := newFeed(t, 200, nil, body)
		if r, err := checker(url, "1.0.0").Check(t.Context()); err != nil || r.Newest != "1.2.3" || r.Page != page {
			t.Errorf("%s: %+v (%v)", body, r, err)
		}
	}
}

// The request contains nothing about the machine, the user or the version.
func TestTheRequestRevealsNothing(t *testing.T) {
	url, got := newFeed(t, 200, http.Header{"Set-Cookie": {"id=1"}}, releases)
	c := checker(url, "1.9.9")
	for range 2 {
		if _, err := c.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range *got {
		var names []string
		for name := range r.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		if want := []string{"Accept", "Accept-Encoding", "User-Agent"}; !slices.Equal(names, want) || r.UserAgent() != "ContextInfinity" || r.Method != http.MethodGet || r.ContentLength > 0 || r.URL.RawQuery != "limit=5" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
	}
	if len(*got) != 2 {
		t.Errorf("%d requests", len(*got))
	}
}

func TestFailuresAreReported(t *testing.T) {
	moved := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { moved++ }))
	defer elsewhere.Close()
	feedURL := func(status int, header http.Header, body string) string {
		url, _ := newFeed(t, status, header, body)
		return url
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		url  string
		code chat.Code
		want string
	}{
		"none":       {"", chat.CodeConfig, "No release feed is configured"},
		"plain http": {"http://example.org/releases", chat.CodeConfig, "No request was sent"},
		"gone":       {gone.URL, chat.CodeUnavailable, "could not be reached"},
		"missing":    {feedURL(404, nil, ""), chat.CodeProvider, "answered 404 Not Found"},
		"moved":      {feedURL(301, http.Header{"Location": {elsewhere.URL}}, ""), chat.CodeProvider, "has moved to " + elsewhere.URL},
		"a page":     {feedURL(200, nil, "<html>"), chat.CodeProvider, "is not a release feed"},
		"no release": {feedURL(200, nil, `[{"tag_name":"nightly"}]`), chat.CodeProvider, "contains no final release"},
		"too long":   {feedURL(200, nil, strings.Repeat(" ", maxFeed+1)), chat.CodeProvider, "longer than 4 MB"},
	} {
		check := checker(c.url, "1.0.0")
		_, err := check.Check(t.Context())
		if chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || chat.AsError(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if last, kept := check.Last(); last != nil || !errors.Is(kept, err) {
			t.Errorf("%s: Last returns the error %v, and %v", name, kept, last)
		}
	}
	if moved != 0 {
		t.Error("a redirect was followed")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (a roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Automatic checks run only while they are enabled: at once, and then once a day.
func TestDailyChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checked, notified atomic.Int32
		var on atomic.Bool
		c := checker("https://example.org", "1.0.0")
		c.Daily = func() bool { return on.Load() }
		c.Client = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { checked.Add(1); return nil, errors.New("no network") })}
		wake := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx, wake, func() { notified.Add(1) })
		expect := func(want int32, when string) {
			t.Helper()
			synctest.Wait()
			if checked.Load() != want || notified.Load() != want {
				t.Errorf("%s: checked %d times, notified %d times, want %d", when, checked.Load(), notified.Load(), want)
			}
		}
		time.Sleep(50 * time.Hour)
		expect(0, "while it is off")
		on.Store(true)
		wake <- struct{}{}
		expect(1, "when it is switched on")
		wake <- struct{}{} // another setting changed
		time.Sleep(23 * time.Hour)
		expect(1, "within a day")
		time.Sleep(2 * time.Hour)
		expect(2, "after a day")
		on.Store(false)
		wake <- struct{}{}
		time.Sleep(50 * time.Hour)
		expect(2, "when it is off again")
		cancel()
	})
}

// A feed that does not respond is given up after a timeout.
func TestASilentFeedTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := checker("https://example.org", "1.0.0")
		c.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })}
		if _, err := c.Check(t.Context()); chat.CodeOf(err) != chat.CodeTimeout || !strings.Contains(err.Error(), "did not answer within 20s") {
			t.Error(err)
		}
	})
}
