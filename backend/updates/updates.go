// Package updates checks a release feed for a newer version of the program.
//
// Guarantee: the feed is asked only when the user requests it or has enabled the daily check. The request is one GET
// of the configured address with the user agent "ContextInfinity", without version, identifier, cookie or referrer.
// Redirects are not followed. Only the feed is downloaded, and nothing is installed.
package updates

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/loopback"
)

const (
	// maxFeed limits how much of a feed is read, in bytes. One page of GitHub's list of releases is a few
	// hundred kilobytes.
	maxFeed = 4 << 20
	// checkTime limits a check.
	checkTime = 20 * time.Second
	// daily is the interval of the automatic check.
	daily = 24 * time.Hour

	op = "updates.check"
)

// Verdict compares the running version with the newest release.
type Verdict string

const (
	VerdictNewer   Verdict = "newer"   // there is a newer release
	VerdictCurrent Verdict = "current" // the running version is the newest release, or newer
	VerdictUnknown Verdict = "unknown" // the version of the running program is not known
)

// Result is the outcome of a check.
type Result struct {
	Verdict Verdict
	Running string // version, "1.2.3"
	Newest  string // version of the newest release that is not a draft or a prerelease, "1.2.4"
	Page    string // its page, an https address; empty: the feed has none
	At      time.Time
}

// Checker checks the feed and keeps the outcome of the last check.
type Checker struct {
	// Feed returns the address of the feed; empty: none is configured. Daily reports whether to check every day. Both
	// return the current setting.
	Feed  func() string
	Daily func() bool
	// Running is the version of this program.
	Running string
	Client  *http.Client // see NewClient
	Now     func() time.Time

	mu   sync.Mutex
	last *Result
	err  error
}

// NewClient returns a client that follows no redirects, keeps no cookies and sends no referrer.
func NewClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Last returns the outcome or the error of the last check in this run; both are nil if there was none.
func (c *Checker) Last() (*Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.err
}

// Check checks the feed.
//
// Errors: CodeConfig without a usable address, CodeUnavailable and CodeTimeout if the feed does not answer,
// CodeProvider if the answer is not a feed.
func (c *Checker) Check(ctx context.Context) (Result, error) {
	r, err := c.check(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	if err == nil {
		c.last = &r
	}
	return r, err
}

// Run checks immediately and then once a day while the daily check is enabled, until ctx ends. A message on wake
// makes it read the settings again.
func (c *Checker) Run(ctx context.Context, wake <-chan struct{}, checked func()) {
	var due <-chan time.Time
	for {
		switch enabled := c.Daily() && c.Feed() != ""; {
		case !enabled:
			due = nil
		case due == nil:
			due = time.After(0)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-due:
			_, _ = c.Check(ctx) // the error is available from Last
			checked()
			due = time.After(daily)
		}
	}
}

func (c *Checker) check(ctx context.Context) (Result, error) {
	feed := c.Feed()
	if feed == "" {
		return Result{}, chat.Errorf(chat.CodeConfig, op, "No release feed is configured, so no request was sent.").WithHint("set updates.url to the address of one, such as the list of a project's releases on GitHub or Gitea")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	body, err := c.fetch(ctx, feed)
	if err != nil {
		return Result{}, err
	}
	newest, page, err := newestOf(body)
	if err != nil {
		return Result{}, chat.WrapError(chat.CodeProvider, op, err, "The answer of %s is not a release feed: %s.", hostOf(feed), err).WithHint("check updates.url")
	}
	return Result{Verdict: compare(c.Running, newest), Running: c.Running, Newest: strings.TrimPrefix(newest, "v"), Page: page, At: c.Now()}, nil
}

func (c *Checker) fetch(ctx context.Context, feed string) ([]byte, error) {
	if loopback.Exposes(feed) {
		return nil, chat.Errorf(chat.CodeConfig, op, "The address of the release feed is plain http, so anybody on the network could forge the answer. No request was sent.").WithHint("set updates.url to an https address")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, feed, nil)
	if err != nil {
		return nil, chat.WrapError(chat.CodeConfig, op, err, "The address of the release feed cannot be used. No request was sent.").WithHint("check updates.url")
	}
	req.Header.Set("User-Agent", "ContextInfinity")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Client.Do(req)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, chat.WrapError(chat.CodeTimeout, op, err, "%s did not answer within %s.", hostOf(feed), checkTime).WithHint("try again later")
		}
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "%s could not be reached.", hostOf(feed)).WithHint("check the network and updates.url")
	}
	defer func() { _ = resp.Body.Close() }()
	switch location := resp.Header.Get("Location"); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400 && location != "":
		return nil, chat.Errorf(chat.CodeProvider, op, "The release feed has moved to %s. Other addresses are not contacted unless you configure them.", short(location)).WithHint("set updates.url to the new address if you trust it")
	case resp.StatusCode != http.StatusOK:
		return nil, chat.Errorf(chat.CodeProvider, op, "%s answered %d %s.", hostOf(feed), resp.StatusCode, http.StatusText(resp.StatusCode)).WithHint("check updates.url, or try again later")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFeed+1))
	switch {
	case err != nil:
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "The connection to %s was lost before its answer was complete.", hostOf(feed)).WithHint("try again later")
	case len(body) > maxFeed:
		return nil, chat.Errorf(chat.CodeProvider, op, "The answer of %s is longer than %d MB, and was not read further.", hostOf(feed), maxFeed>>20).WithHint("check updates.url")
	}
	return body, nil
}

// entry is a release in a feed: in the format of GitHub and Gitea (tag_name, html_url), or in a simple format
// (version, page).
type entry struct {
	TagName    string `json:"tag_name"`
	Version    string `json:"version"`
	HTMLURL    string `json:"html_url"`
	Page       string `json:"page"`
	Draft      bool   `json:"draft"`
	Prerelease bool   `json:"prerelease"`
}

// newestOf returns the highest version in a feed, "v1.2.3", and its page. A feed is one release or a list of
// releases.
func newestOf(body []byte) (version, page string, err error) {
	var list []entry
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("{")) {
		list = make([]entry, 1)
		err = json.Unmarshal(body, &list[0])
	} else {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return "", "", errors.New("it is not the JSON of a release or of a list of releases")
	}
	for _, e := range list {
		v := semantic(e.TagName)
		if v == "" {
			v = semantic(e.Version)
		}
		if v == "" || e.Draft || e.Prerelease || semver.Prerelease(v) != "" || semver.Compare(v, version) <= 0 {
			continue
		}
		version, page = v, ""
		for _, address := range []string{e.HTMLURL, e.Page} {
			if u, err := url.Parse(address); page == "" && err == nil && u.Scheme == "https" && u.Host != "" {
				page = u.String()
			}
		}
	}
	if version == "" {
		return "", "", errors.New("it contains no final release with a version such as 1.2.3")
	}
	return version, page, nil
}

// semantic returns a version in the form that package semver uses; "" if it is not one. Two numbers are not enough:
// "v1.2" may be the name of a branch.
func semantic(version string) string {
	v := "v" + strings.TrimPrefix(strings.TrimSpace(version), "v")
	if !semver.IsValid(v) || strings.Count(strings.SplitN(strings.SplitN(v, "-", 2)[0], "+", 2)[0], ".") != 2 {
		return ""
	}
	return v
}

// compare compares the running version with the newest one. A build made after a release (1.2.3+5.gabc) counts as
// that release.
func compare(running, newest string) Verdict {
	v := semantic(running)
	switch {
	case v == "":
		return VerdictUnknown
	case semver.Compare(newest, v) > 0:
		return VerdictNewer
	}
	return VerdictCurrent
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "The address"
}

// short limits the length of an address that a server sent.
func short(address string) string {
	const maxBytes = 200
	if address = strings.ToValidUTF8(address, ""); len(address) > maxBytes {
		return strings.ToValidUTF8(address[:maxBytes], "") + "…"
	}
	return address
}
