// Package places has the servers of vaults for tests: an object store and a WebDAV server that can fail as those on a network
// do. They are in the test's process, and in the form of `make crash` programs that people use (programs.go).
package places

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"golang.org/x/net/webdav"

	"contextinfinity/test/testtier"
)

// User and Password are the credentials of all servers.
const (
	User     = "AKUSER"
	Password = "a secret/canary+password"
)

// Fault is what happens to a request.
type Fault int

const (
	None         Fault = iota
	Refuse             // 500 or 503, nothing done
	Cut                // the connection is cut, nothing done
	CutAfter           // done, and the connection is cut before the answer
	FailAfter          // done, and the answer is 500
	HalfBody           // the answer is cut in its middle
	Hang               // no answer until the client gives up
	Expired            // the credentials are no longer accepted
	Denied             // the user may not do this
	Full               // the quota is used up, for everything that writes
	NoConditions       // If-None-Match is not implemented
	Ignores            // If-None-Match is ignored
)

// Server is a place on this machine.
type Server struct {
	*httptest.Server
	// Address is that of a vault; what is stored there is empty.
	Address string

	t     testing.TB
	s3    bool // otherwise WebDAV
	kept  storage
	mu    sync.Mutex
	fault func(*http.Request) Fault
	count int
}

// bucket and below is where the vaults are; the name of the folder needs encoding.
const (
	bucket = "vaults"
	below  = "of Zoë/a+b"
)

// S3 starts an object store.
func S3(t testing.TB) *Server {
	s := &Server{t: t, s3: true}
	if testtier.Crash() {
		s.startVersity()
	} else {
		kept := memory{s3mem.New()}
		if err := kept.CreateBucket(bucket); err != nil {
			t.Fatal(err)
		}
		s.kept = kept
		s.start(gofakes3.New(kept).Server(), signed)
	}
	s.Address = "s3:" + s.URL + "/" + bucket + "/" + (&url.URL{Path: below}).EscapedPath()
	return s
}

// WebDAV starts a WebDAV server.
func WebDAV(t testing.TB) *Server {
	s := &Server{t: t}
	dir := t.TempDir()
	s.kept = s.folder(dir)
	if testtier.Crash() {
		s.startSabre(dir)
	} else {
		s.start(&webdav.Handler{Prefix: "/dav", FileSystem: webdav.Dir(dir), LockSystem: webdav.NewMemLS()}, func(r *http.Request, _ []byte) bool {
			user, password, ok := r.BasicAuth()
			return ok && user == User && password == Password
		})
	}
	s.Address = s.URL + "/dav/" + (&url.URL{Path: below}).EscapedPath()
	return s
}

func (s *Server) start(h http.Handler, allowed func(*http.Request, []byte) bool) {
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.mu.Lock()
		s.count++
		fault := None
		if s.fault != nil {
			fault = s.fault(r)
		}
		s.mu.Unlock()
		if !allowed(r, body) {
			s.refuse(w, http.StatusUnauthorized, "SignatureDoesNotMatch")
			return
		}
		switch fault {
		case Refuse:
			s.refuse(w, http.StatusServiceUnavailable, "SlowDown")
		case Cut:
			panic(http.ErrAbortHandler)
		case CutAfter:
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case FailAfter:
			h.ServeHTTP(httptest.NewRecorder(), r)
			s.refuse(w, http.StatusInternalServerError, "InternalError")
		case HalfBody:
			done := httptest.NewRecorder()
			h.ServeHTTP(done, r)
			for name, values := range done.Header() {
				w.Header()[name] = values
			}
			w.Header().Set("Content-Length", fmt.Sprint(done.Body.Len()+1))
			w.WriteHeader(done.Code)
			_, _ = w.Write(done.Body.Bytes()[:done.Body.Len()/2])
			panic(http.ErrAbortHandler)
		case Hang:
			<-r.Context().Done()
		case Expired:
			s.refuse(w, http.StatusUnauthorized, "ExpiredToken")
		case Denied:
			s.refuse(w, http.StatusForbidden, "AccessDenied")
		case Full:
			if r.Method == http.MethodPut {
				s.refuse(w, http.StatusInsufficientStorage, "QuotaExceeded")
				return
			}
			h.ServeHTTP(w, r)
		case NoConditions:
			if r.Header.Get("If-None-Match") != "" {
				s.refuse(w, http.StatusNotImplemented, "NotImplemented")
				return
			}
			h.ServeHTTP(w, r)
		case Ignores:
			r.Header.Del("If-None-Match")
			h.ServeHTTP(w, r)
		default:
			h.ServeHTTP(w, r)
		}
	}))
	s.Config.ErrorLog = nil
	s.t.Cleanup(s.Close)
}

// refuse answers as the servers do: object stores mostly with 403, and a code.
func (s *Server) refuse(w http.ResponseWriter, status int, code string) {
	if !s.s3 {
		w.WriteHeader(status)
		return
	}
	if status == http.StatusUnauthorized || code == "QuotaExceeded" {
		status = http.StatusForbidden
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
}

// Fail decides what happens to each request; nil: nothing.
func (s *Server) Fail(fault func(*http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Always does the same to each request.
func (s *Server) Always(fault Fault) { s.Fail(func(*http.Request) Fault { return fault }) }

// Unreliable lets three requests of ten fail.
func (s *Server) Unreliable(seed int64, with ...Fault) {
	r := rand.New(rand.NewSource(seed))
	s.Fail(func(*http.Request) Fault {
		if r.Intn(10) < 3 {
			return with[r.Intn(len(with))]
		}
		return None
	})
}

// Requests counts the requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Objects returns everything that is stored, by its name in the vault.
func (s *Server) Objects() map[string][]byte {
	s.t.Helper()
	out, err := s.kept.objects()
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// Put stores an object, whatever was there.
func (s *Server) Put(name string, content []byte) {
	s.t.Helper()
	if err := s.kept.put(name, content); err != nil {
		s.t.Fatal(err)
	}
}

// Fill makes the place contain these objects and no others.
func (s *Server) Fill(objects map[string][]byte) {
	s.t.Helper()
	for name := range s.Objects() {
		if err := s.kept.remove(name); err != nil {
			s.t.Fatal(err)
		}
	}
	for name, content := range objects {
		s.Put(name, content)
	}
}

// storage is what a server keeps, past the server.
type storage interface {
	objects() (map[string][]byte, error)
	put(name string, content []byte) error
	remove(name string) error
}

type memory struct{ *s3mem.Backend }

func (m memory) objects() (map[string][]byte, error) {
	out := map[string][]byte{}
	list, err := m.ListBucket(bucket, &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	for _, c := range list.Contents {
		o, err := m.GetObject(bucket, c.Key, nil)
		if err != nil {
			return nil, err
		}
		if out[strings.TrimPrefix(c.Key, below+"/")], err = io.ReadAll(o.Contents); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m memory) put(name string, content []byte) error {
	_, err := m.PutObject(bucket, below+"/"+name, nil, strings.NewReader(string(content)), int64(len(content)), nil)
	return err
}

func (m memory) remove(name string) error {
	_, err := m.DeleteObject(bucket, below+"/"+name)
	return err
}

// folder is the folder of a vault, which has the objects as files.
type folder string

// folder creates the folder of a vault in another one.
func (s *Server) folder(parent string) folder {
	dir := filepath.Join(parent, filepath.FromSlash(below))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	return folder(dir)
}

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) objects() (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(string(f), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(string(f), path)
		if err == nil {
			out[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	return out, err
}

func (f folder) put(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.path(name), content, 0o600)
}

func (f folder) remove(name string) error { return os.Remove(f.path(name)) }

// signed reports whether a request has a valid AWS Signature Version 4, computed from what arrived.
func signed(r *http.Request, body []byte) bool {
	fields := map[string]string{}
	for _, f := range strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		fields[name] = value
	}
	user, scope, _ := strings.Cut(fields["Credential"], "/")
	path, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	query := strings.Split(rawQuery, "&")
	for i, pair := range query {
		if pair != "" && !strings.Contains(pair, "=") {
			query[i] += "="
		}
	}
	sort.Strings(query)
	lines := r.Method + "\n" + path + "\n" + strings.Join(query, "&") + "\n"
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		lines += name + ":" + strings.TrimSpace(value) + "\n"
	}
	sum := sha256.Sum256(body)
	if r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) {
		return false
	}
	lines += "\n" + fields["SignedHeaders"] + "\n" + hex.EncodeToString(sum[:])
	whole := sha256.Sum256([]byte(lines))
	key := []byte("AWS4" + Password)
	for _, part := range append(strings.Split(scope, "/"), "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+hex.EncodeToString(whole[:])) {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	return user == User && fields["Signature"] == hex.EncodeToString(key)
}
