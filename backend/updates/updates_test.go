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

// answering is a feed with the same response for every request, which records the requests.
func answering(t *testing.T, status int, header http.Header, body string) (url string, got *[]*http.Request) {
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

const list = `[{"tag_name":"v1.9.0","html_url":"https://example.org/1.9.0"},{"tag_name":"v1.10.0","html_url":"https://example.org/1.10.0"},
	{"tag_name":"v2.0.0","draft":true},{"tag_name":"v2.0.1","prerelease":true},{"tag_name":"v2.0.2-rc.1"},{"tag_name":"nightly"},{"tag_name":"v3"}]`

// Versions are compared by precedence; drafts, prereleases and other tags are not releases.
func TestTheNewestReleaseIsFound(t *testing.T) {
	url, _ := answering(t, 200, nil, list)
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
		url, _ := answering(t, 200, nil, body)
		if r, err := checker(url, "1.0.0").Check(t.Context()); err != nil || r.Newest != "1.2.3" || r.Page != page {
			t.Errorf("%s: %+v (%v)", body, r, err)
		}
	}
}

// The request contains nothing about the machine, the user or the version.
func TestNothingIsSentButTheRequest(t *testing.T) {
	url, got := answering(t, 200, http.Header{"Set-Cookie": {"id=1"}}, list)
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
	at := func(status int, header http.Header, body string) string {
		url, _ := answering(t, status, header, body)
		return url
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, c := range map[string]struct {
		url   string
		code  chat.Code
		words string
	}{
		"none":       {"", chat.CodeConfig, "No release feed is configured"},
		"plain http": {"http://example.org/releases", chat.CodeConfig, "No request was sent"},
		"gone":       {gone.URL, chat.CodeUnavailable, "could not be reached"},
		"missing":    {at(404, nil, ""), chat.CodeProvider, "answered 404 Not Found"},
		"moved":      {at(301, http.Header{"Location": {elsewhere.URL}}, ""), chat.CodeProvider, "has moved to " + elsewhere.URL},
		"a page":     {at(200, nil, "<html>"), chat.CodeProvider, "is not a release feed"},
		"no release": {at(200, nil, `[{"tag_name":"nightly"}]`), chat.CodeProvider, "contains no final release"},
		"too long":   {at(200, nil, strings.Repeat(" ", maxFeed+1)), chat.CodeProvider, "longer than 4 MB"},
	} {
		k := checker(c.url, "1.0.0")
		_, err := k.Check(t.Context())
		if chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) || chat.AsError(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if last, kept := k.Last(); last != nil || !errors.Is(kept, err) {
			t.Errorf("%s: %v is kept, %v", name, kept, last)
		}
	}
	if moved != 0 {
		t.Error("a redirect was followed")
	}
}

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Automatic checks run only while they are enabled: at once, and then once a day.
func TestDailyChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, notified atomic.Int32
		var on atomic.Bool
		c := checker("https://example.org", "1.0.0")
		c.Daily = func() bool { return on.Load() }
		c.Client = &http.Client{Transport: answers(func(*http.Request) (*http.Response, error) { asked.Add(1); return nil, errors.New("no network") })}
		wake := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go c.Run(ctx, wake, func() { notified.Add(1) })
		is := func(want int32, when string) {
			t.Helper()
			synctest.Wait()
			if asked.Load() != want || notified.Load() != want {
				t.Errorf("%s: checked %d times, notified %d times, want %d", when, asked.Load(), notified.Load(), want)
			}
		}
		time.Sleep(50 * time.Hour)
		is(0, "while it is off")
		on.Store(true)
		wake <- struct{}{}
		is(1, "when it is switched on")
		wake <- struct{}{} // another setting changed
		time.Sleep(23 * time.Hour)
		is(1, "within a day")
		time.Sleep(2 * time.Hour)
		is(2, "after a day")
		on.Store(false)
		wake <- struct{}{}
		time.Sleep(50 * time.Hour)
		is(2, "when it is off again")
		cancel()
	})
}

// A feed that does not respond is given up after a timeout.
func TestASilentFeedTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := checker("https://example.org", "1.0.0")
		c.Client = &http.Client{Transport: answers(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })}
		if _, err := c.Check(t.Context()); chat.CodeOf(err) != chat.CodeTimeout || !strings.Contains(err.Error(), "did not answer within 20s") {
			t.Error(err)
		}
	})
}
