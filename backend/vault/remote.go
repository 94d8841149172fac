package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/loopback"
)

// Places opens the places of vaults.
type Places struct {
	Client *http.Client
	// Backoff is the time before a request is sent again, which doubles each time; 0: half a second.
	Backoff time.Duration
	// Idle is how long no byte may come or go; 0: two minutes.
	Idle time.Duration
}

// Open returns the place of a target.
func (p Places) Open(t Target) (Place, error) {
	if !t.Remote() {
		return unhanging{Folder(t.Address)}, nil
	}
	address, isS3 := strings.CutPrefix(t.Address, "s3:")
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "":
		return nil, notAnAddress()
	case u.User != nil:
		return nil, chat.Errorf(chat.CodeInvalid, opConnect, "The address of a vault has no user name or password in it; nothing was changed.").
			WithHint("contextinfinity sync --vault ADDRESS --user USER --password-file FILE")
	case loopback.Exposes(address):
		return nil, chat.Errorf(chat.CodeInvalid, opConnect, "Over http:// anybody on the way could read the password; nothing was sent.").
			WithHint("use https://; http:// is for this computer only")
	}
	client := *p.Client
	// The credentials are for this address only.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := remote{
		client: &client, address: t.Address, user: t.User, password: t.Password,
		backoff: cmp.Or(p.Backoff, 500*time.Millisecond), idle: cmp.Or(p.Idle, 2*time.Minute),
	}
	if isS3 {
		return newS3(r, u)
	}
	return newWebDAV(r, u)
}

func notAnAddress() error {
	return chat.Errorf(chat.CodeInvalid, opConnect, "This is not the address of a vault; nothing was changed.").
		WithHint("a folder, https://HOST/PATH/ for WebDAV, or s3:https://HOST/BUCKET/PREFIX")
}

// remote sends requests to a place on the network, again after failures that may pass, and explains the others.
type remote struct {
	client         *http.Client
	address        string // as the user wrote it
	user, password string
	backoff, idle  time.Duration
	sign           func(r *http.Request, content []byte) // adds the credentials
}

// request is sent once or several times.
type request struct {
	method  string
	url     string
	header  http.Header
	content []byte
	limit   int // of the answer's body, in bytes
}

type answer struct {
	status int
	header http.Header
	body   []byte
	again  bool // it was sent before: that one may have taken effect
}

// attempts is how often a request is sent at most.
const attempts = 6

// maxPause limits the time before a request is sent again, also if the server asks for more.
const maxPause = 30 * time.Second

var (
	errIdle     = errors.New("nothing was sent or received for too long")
	errTooLarge = errors.New("it is too large")
)

// send returns the answer of a server, whatever its status, or the error of the last attempt, for people.
func (r *remote) send(ctx context.Context, q request) (answer, error) {
	pause := r.backoff
	for attempt := 1; ; attempt++ {
		a, err := r.once(ctx, q)
		a.again = attempt > 1
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if err != nil && !passes(err) {
			return a, r.fault(err)
		}
		if err == nil && !slices.Contains(passing, a.status) {
			return a, nil
		}
		if attempt == attempts {
			if err != nil {
				err = r.fault(err)
			}
			return a, err
		}
		seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
		wait := min(max(pause/2+rand.N(pause), time.Duration(seconds)*time.Second), maxPause)
		pause *= 2
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// passing are statuses that may be another one soon. 409 is S3's for two that put the same name at once, and WebDAV's for
// a folder that is missing, which is made before.
var passing = []int{
	http.StatusRequestTimeout,
	http.StatusLocked,
	http.StatusTooEarly,
	http.StatusTooManyRequests,
	http.StatusInternalServerError,
	http.StatusBadGateway,
	http.StatusServiceUnavailable,
	http.StatusGatewayTimeout,
}

// passes reports whether the error of a connection may be gone the next time.
func passes(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, explained := errors.AsType[*chat.Error](err) // by the client's transport
	return !untrusted && !explained && err != errTooLarge
}

// once sends a request once.
func (r *remote) once(ctx context.Context, q request) (answer, error) {
	// A server that sends a byte now and then does not hold the exchange for ever.
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute+time.Duration(len(q.content)+q.limit)*time.Second/(32<<10))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(r.idle, func() { stop(errIdle) })
	defer timer.Stop()
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(&moving{bytes.NewReader(q.content), timer, r.idle}), nil
	}
	req, err := http.NewRequestWithContext(ctx, q.method, q.url, nil)
	if err != nil {
		return answer{}, err
	}
	if req.ContentLength = int64(len(q.content)); len(q.content) > 0 {
		req.Body, _ = body()
		req.GetBody = body
	}
	for name, values := range q.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "ContextInfinity")
	req.Header.Set("Accept-Encoding", "identity") // the limit is of what travels
	if r.user != "" {
		r.sign(req, q.content)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return answer{}, cmp.Or(idle(ctx), err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	a.body, err = io.ReadAll(io.LimitReader(&moving{res.Body, timer, r.idle}, int64(q.limit)+1))
	if err == nil && len(a.body) > q.limit {
		err = errTooLarge
	}
	return a, cmp.Or(idle(ctx), err)
}

func idle(ctx context.Context) error {
	if context.Cause(ctx) == errIdle {
		return errIdle
	}
	return nil
}

// moving restarts a timer with each byte that comes or goes.
type moving struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.timer.Reset(m.idle)
	return n, err
}

// placeFault is an error of the whole place, not of one object.
type placeFault struct{ error }

func (f placeFault) Unwrap() error { return f.error }

const opPlace = "vault.place"

// fault explains why there was no answer.
func (r *remote) fault(err error) error {
	if _, explained := errors.AsType[*chat.Error](err); explained {
		return err
	}
	e := chat.WrapError(chat.CodeUnavailable, opPlace, err, "%s cannot be reached; nothing is lost, and the next exchange continues.", r.address).
		WithHint("look at the network and the address")
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case untrusted:
		e = chat.WrapError(chat.CodeUnavailable, opPlace, err, "The certificate of %s is not trusted, so nothing was sent there.", r.address).
			WithHint("look at the address; an authority of your own is set by providers.ca_file")
	case errors.Is(err, errIdle), errors.Is(err, context.DeadlineExceeded):
		e = chat.WrapError(chat.CodeTimeout, opPlace, err, "%s did not answer in time; nothing is lost, and the next exchange continues.", r.address)
	case errors.Is(err, errTooLarge):
		e = chat.WrapError(chat.CodeProvider, opPlace, err, "%s answered with more than was asked for; nothing was changed here.", r.address).
			WithHint("look at the address")
	}
	return placeFault{e}
}

// refused explains an answer that is not the expected one. why is a short word of the server's, which may be empty.
func (r *remote) refused(a answer, why string) error {
	var e *chat.Error
	switch a.status {
	case http.StatusUnauthorized:
		e = chat.Errorf(chat.CodeAuth, opPlace, "%s does not accept the user or the password, or they expired. Nothing was changed here, and nothing is lost.", r.address).
			WithHint("give them again: Settings, Several computers, or contextinfinity sync --vault ADDRESS --user USER --password-file FILE")
	case http.StatusForbidden:
		e = chat.Errorf(chat.CodeAuth, opPlace, "%s does not allow this user to read and write there. Nothing was changed here, and nothing is lost.", r.address).
			WithHint("look at the permissions of the user, or of the key: it must read, write, list and delete")
	case http.StatusInsufficientStorage:
		e = chat.Errorf(chat.CodeNoSpace, opPlace, "%s is full. What was sent before is there, nothing is lost, and the next exchange continues.", r.address).
			WithHint("make room there, or choose another place: Settings, Several computers, or contextinfinity sync --vault ADDRESS")
	case http.StatusRequestEntityTooLarge:
		e = chat.Errorf(chat.CodeTooLarge, opPlace, "%s does not take files of this size. What was sent before is there, and nothing is lost.", r.address).
			WithHint("raise the limit of uploads of that server")
	case http.StatusNotFound, http.StatusConflict:
		e = chat.Errorf(chat.CodeNotFound, opPlace, "There is no such folder or bucket: %s. Nothing was changed.", r.address).
			WithHint("look at the address, or create it first")
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, _ := url.Parse(a.header.Get("Location"))
		if to == nil {
			to = &url.URL{}
		}
		e = chat.Errorf(chat.CodeInvalid, opPlace, "%s answers that it is at another address (%s); nothing was sent there.", r.address, cmp.Or(to.Host, why)).
			WithHint("give the other address, if it is yours")
	default:
		e = chat.Errorf(chat.CodeProvider, opPlace, "%s answered with %d %s. Nothing is lost, and the next exchange continues.", r.address, a.status, cmp.Or(why, http.StatusText(a.status))).
			WithHint("look at the address, or try later")
	}
	return placeFault{e}
}

// readBack reports whether an object has this content: a request that was sent twice may have taken effect the first time.
func readBack(ctx context.Context, p Place, name string, content []byte) error {
	there, err := p.Get(ctx, name)
	if err == nil && !bytes.Equal(there, content) {
		return ErrExists
	}
	return err
}

// escaped encodes a path, or with all also its slashes, as S3 signs it.
func escaped(path string, all bool) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0, c == '/' && !all:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)|256, 16)[1:]))
		}
	}
	return b.String()
}
