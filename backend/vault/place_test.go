package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/test/places"
)

// driver is a kind of place, for the suite that all must pass.
type driver struct {
	name   string
	server *places.Server // nil: a folder
	target Target
}

func (d driver) open(t testing.TB) Place { return d.openFor(t, time.Minute) }

// openFor is open with how long a request may be idle.
func (d driver) openFor(t testing.TB, idle time.Duration) Place {
	t.Helper()
	p, err := Places{Client: &http.Client{Transport: &http.Transport{}}, Backoff: time.Millisecond, Idle: idle}.Open(d.target)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ofServer(name string, s *places.Server) driver {
	return driver{name, s, Target{Address: s.Address, User: places.User, Password: places.Password}}
}

func remotes(t *testing.T) []driver {
	return []driver{ofServer("s3", places.S3(t)), ofServer("webdav", places.WebDAV(t))}
}

// drivers are all, also stores without If-None-Match.
func drivers(t *testing.T) []driver {
	plain, ignoring := places.S3(t), places.S3(t)
	plain.Always(places.NoConditions)
	ignoring.Always(places.Ignores)
	return append(remotes(t), driver{"folder", nil, Target{Address: t.TempDir()}}, ofServer("plain s3", plain), ofServer("ignoring s3", ignoring))
}

func device(n int) string { return fmt.Sprintf("%032x", n) }

// TestAPlaceKeepsWhatIsWrittenOnce: what every driver promises.
func TestAPlaceKeepsWhatIsWrittenOnce(t *testing.T) {
	large := make([]byte, 3<<20)
	rand.New(rand.NewSource(1)).Read(large)
	for _, d := range drivers(t) {
		t.Run(d.name, func(t *testing.T) {
			ctx, p := t.Context(), d.open(t)
			if list, err := p.List(ctx, ""); err != nil || len(list) != 0 {
				t.Fatalf("an empty place: %v, %v", list, err)
			}
			if list, err := p.List(ctx, logDir); err != nil || len(list) != 0 {
				t.Fatalf("a folder that is not there yet: %v, %v", list, err)
			}
			want := map[string][]byte{
				lockName:                []byte("{}"),
				devicesDir + device(1):  []byte("a"),
				logName(device(1), 1):   large,
				logName(device(1), 2):   {0},
				logName(device(2), 1):   []byte("b"),
				contentsDir + device(9): []byte("c"),
			}
			for name, content := range want {
				if _, err := p.Get(ctx, name); err != ErrMissing {
					t.Errorf("%s before it is written: %v", name, err)
				}
				if err := p.PutNew(ctx, name, content); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := p.PutNew(ctx, name, []byte("another")); err != ErrExists {
					t.Errorf("%s twice: %v", name, err)
				}
				if got, err := p.Get(ctx, name); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			if d.server != nil {
				d.server.Put("notes.txt", []byte("x"))
				d.server.Put(logDir+"readme", []byte("x"))
			}
			for prefix, n := range map[string]int{"": 6, logDir: 3, logDir + device(1) + "/": 2, logDir + device(3) + "/": 0, contentsDir: 1} {
				list, err := p.List(ctx, prefix)
				names := map[string]bool{}
				for _, o := range list {
					names[o.Name] = true
					if o.Size != int64(len(want[o.Name])) || time.Since(o.Changed).Abs() > time.Hour || !strings.HasPrefix(o.Name, prefix) {
						t.Errorf("list of %q: %+v", prefix, o)
					}
				}
				if err != nil || len(list) != n || len(names) != n {
					t.Errorf("list of %q: %v, %v", prefix, list, err)
				}
			}
			name := logName(device(1), 2)
			for range 2 { // what is not there is removed too
				if err := p.Delete(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := p.Get(ctx, name); err != ErrMissing {
				t.Errorf("after it was removed: %v", err)
			}
			if err := p.PutNew(ctx, name, []byte("new")); err != nil {
				t.Errorf("in its place: %v", err)
			}
			if d.server != nil {
				for name := range d.server.Objects() {
					if strings.HasPrefix(name, "new-") {
						t.Errorf("%s is left", name)
					}
				}
			}
		})
	}
}

// TestOneOfManyWins: of devices that put the same name at once, exactly one is told that it did, and its content is there.
func TestOneOfManyWins(t *testing.T) {
	for _, d := range append(remotes(t), driver{"folder", nil, Target{Address: t.TempDir()}}) {
		t.Run(d.name, func(t *testing.T) {
			for round := range 5 {
				name := logName(device(7), int64(round+1))
				errs := make([]error, 8)
				var wait sync.WaitGroup
				for i := range errs {
					p := d.open(t)
					wait.Go(func() { errs[i] = p.PutNew(t.Context(), name, bytes.Repeat([]byte{byte(i)}, 1000)) })
				}
				wait.Wait()
				winner := slices.Index(errs, nil)
				content, err := d.open(t).Get(t.Context(), name)
				if winner < 0 || err != nil || !bytes.Equal(content, bytes.Repeat([]byte{byte(winner)}, 1000)) {
					t.Fatalf("%v, %d bytes, %v", errs, len(content), err)
				}
				for i, err := range errs {
					if i != winner && err != ErrExists {
						t.Errorf("%d: %v, and %d won", i, err, winner)
					}
				}
			}
		})
	}
}

// TestAPlaceWithManyObjects: a list has several pages.
func TestAPlaceWithManyObjects(t *testing.T) {
	for _, d := range remotes(t) {
		want := 1005
		for n := range want {
			d.server.Put(logName(device(n%3), int64(n)), []byte("x"))
		}
		list, err := d.open(t).List(t.Context(), logDir)
		if err != nil || len(list) != want {
			t.Errorf("%s: %d of %d, %v", d.name, len(list), want, err)
		}
	}
}

// TestAnUnreliablePlace: three requests of ten fail, before or after they took effect. What was stored is complete, is what
// was put, and no device takes its own file for that of another.
func TestAnUnreliablePlace(t *testing.T) {
	faults := []places.Fault{places.Refuse, places.Cut, places.CutAfter, places.FailAfter, places.HalfBody, places.HalfBody, places.Hang}
	for _, d := range remotes(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p, ctx := d.openFor(t, 200*time.Millisecond), t.Context()
			failed := 0
			d.server.Unreliable(4, faults...)
			for n := int64(1); n <= 25; n++ {
				content := bytes.Repeat([]byte{byte(n)}, int(n)*100)
				err := p.PutNew(ctx, logName(device(1), n), content)
				if err == ErrExists {
					t.Errorf("file %d: its own file is that of another", n)
				}
				for err != nil && err != ErrExists { // a later exchange
					failed++
					err = p.PutNew(ctx, logName(device(1), n), content)
				}
				got, err := p.Get(ctx, logName(device(1), n))
				for err != nil && err != ErrMissing {
					failed++
					got, err = p.Get(ctx, logName(device(1), n))
				}
				if !bytes.Equal(got, content) {
					t.Errorf("file %d: %d bytes, %v", n, len(got), err)
				}
			}
			list, err := p.List(ctx, logDir)
			for err != nil {
				list, err = p.List(ctx, logDir)
			}
			if len(list) != 25 {
				t.Errorf("%d files", len(list))
			}
			if failed > 25 {
				t.Errorf("%d operations failed: requests are not sent again", failed)
			}
			t.Logf("%d requests, %d operations failed", d.server.Requests(), failed)
		})
	}
}

// TestWhatIsWrongIsSaid: each failure has a code and a text of its own, and no text or value has the password.
func TestWhatIsWrongIsSaid(t *testing.T) {
	cases := []struct {
		name string
		do   func(d *driver)
		put  bool // it fails when something is written
		code chat.Code
		says string
	}{
		{"wrong password", func(d *driver) { d.target.Password = "not " + places.Password }, false, chat.CodeAuth, "does not accept the user or the password"},
		{"wrong user", func(d *driver) { d.target.User = "nobody" }, false, chat.CodeAuth, "does not accept the user or the password"},
		{"expired", func(d *driver) { d.server.Always(places.Expired) }, false, chat.CodeAuth, "or they expired"},
		{"not allowed", func(d *driver) { d.server.Always(places.Denied) }, false, chat.CodeAuth, "does not allow this user"},
		{"full", func(d *driver) { d.server.Always(places.Full) }, true, chat.CodeNoSpace, "is full"},
		{"no such place", func(d *driver) {
			d.target.Address = strings.NewReplacer("/vaults/", "/elsewhere/", "/dav/", "/dav/elsewhere/").Replace(d.target.Address)
		}, true, chat.CodeNotFound, "There is no such folder or bucket"},
		{"down", func(d *driver) { d.server.Always(places.Refuse) }, false, chat.CodeProvider, "answered with 503 S"},
		{"no answer", func(d *driver) { d.server.Always(places.Hang) }, false, chat.CodeTimeout, "did not answer in time"},
		{"nobody there", func(d *driver) { d.server.Close() }, false, chat.CodeUnavailable, "cannot be reached"},
	}
	for _, c := range cases {
		for _, d := range remotes(t) {
			t.Run(c.name+" "+d.name, func(t *testing.T) {
				c.do(&d)
				idle := time.Minute
				if c.code == chat.CodeTimeout {
					idle = 10 * time.Millisecond
				}
				p := d.openFor(t, idle)
				list, err := p.List(t.Context(), "")
				if c.put && err == nil {
					err = p.PutNew(t.Context(), lockName, []byte("x"))
				}
				if err == nil || chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("%s, %v; %v", chat.CodeOf(err), err, list)
				}
				for err := err; err != nil; err = errors.Unwrap(err) {
					if text := fmt.Sprintf("%v %+v %#v %+v %#v", err, err, err, d.target, d.target); strings.Contains(text, "canary") {
						t.Errorf("the password is in %s", text)
					}
				}
			})
		}
	}
}

// TestAWrongClock is named: object stores refuse signatures of another time.
func TestAWrongClock(t *testing.T) {
	p := ofServer("s3", places.S3(t)).open(t)
	p.(*s3).now = func() time.Time { return time.Now().AddDate(10, 0, 0) }
	if _, err := p.List(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "clock and the one of this computer differ") {
		t.Error(err)
	}
}

// TestCredentialsStayAtTheirAddress: no redirect is followed.
func TestCredentialsStayAtTheirAddress(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL+"/x", status))
		t.Cleanup(server.Close)
		for _, address := range []string{"s3:" + server.URL + "/bucket", server.URL + "/dav/"} {
			d := driver{target: Target{Address: address, User: places.User, Password: places.Password}}
			_, err := d.open(t).Get(t.Context(), lockName)
			if err == nil || !strings.Contains(err.Error(), "another address ("+strings.TrimPrefix(other.URL, "http://")) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	if asked > 0 {
		t.Errorf("the other address was asked %d times", asked)
	}
}

// TestAnUntrustedCertificate: nothing is sent, and not tried again.
func TestAnUntrustedCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	for _, address := range []string{"s3:" + server.URL + "/bucket", server.URL + "/dav/"} {
		_, err := driver{target: Target{Address: address, User: "u", Password: places.Password}}.open(t).Get(t.Context(), lockName)
		if err == nil || !strings.Contains(err.Error(), "is not trusted, so nothing was sent") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestAHostileServer: answers have limits, and names that are not ours are not listed.
func TestAHostileServer(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PROPFIND" {
			w.WriteHeader(http.StatusMultiStatus)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	for _, address := range []string{"s3:" + server.URL + "/bucket", server.URL + "/dav/"} {
		p := driver{target: Target{Address: address, User: "u", Password: "p"}}.open(t)
		answer = strings.Repeat("x", maxSmall+(1<<20))
		if _, err := p.Get(t.Context(), lockName); err == nil || !strings.Contains(err.Error(), "more than was asked for") {
			t.Errorf("%s: too much: %v", address, err)
		}
		for _, answer = range []string{"", "<html>", "<a><b>", strings.Repeat("<x>", 20_000)} {
			if list, err := p.List(t.Context(), ""); err == nil {
				t.Errorf("%s: %.20q is the list %v", address, answer, list)
			}
		}
		foreign := []string{"../x", "log/../../vault.json", "/etc/passwd", "log/" + device(1) + "/1", "log/%2e%2e/x", "\x00", "vault.json/x"}
		answer = `<multistatus xmlns="DAV:">`
		for _, name := range foreign {
			if strings.HasPrefix(address, "s3:") {
				answer += "<Contents><Key>" + strings.ReplaceAll(name, "\x00", "") + "</Key></Contents>"
			} else {
				answer += `<response><href>/dav/` + strings.ReplaceAll(name, "\x00", "%00") + `</href><propstat><status>HTTP/1.1 200 OK</status><prop><resourcetype/></prop></propstat></response>`
			}
		}
		answer += "</multistatus>"
		list, err := p.List(t.Context(), "")
		if err != nil || slices.ContainsFunc(list, func(o Object) bool { return o.Name != lockName }) {
			t.Errorf("%s: %v, %v", address, list, err)
		}
		// A list that never ends.
		answer = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>"
		if _, err := p.List(t.Context(), ""); err == nil {
			t.Errorf("%s: a list without an end was accepted", address)
		}
	}
}

// TestAnAddressThatCannotBeUsed is refused before anything is sent, and is not repeated if it has a password.
func TestAnAddressThatCannotBeUsed(t *testing.T) {
	for _, address := range []string{
		"http://example.test/dav/", "s3:http://192.168.1.5:9000/bucket", "https://me:canary@example.test/", "s3:https://example.test/", "s3://bucket/prefix",
		"ftp://example.test/", "https://", "https://example.test/?token=canary", "s3:https://example.test/b?region=a&token=canary", "https://example.test/#a", "webdav://x/y",
	} {
		if p, err := (Places{Client: &http.Client{}}).Open(Target{Address: address}); err == nil || strings.Contains(err.Error(), "canary") || chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v, %v", address, p, err)
		}
	}
}

// TestASignatureOfS3 compares with the examples of Amazon's documentation of Signature Version 4.
func TestASignatureOfS3(t *testing.T) {
	for query, want := range map[string]string{
		"lifecycle=":          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		"max-keys=2&prefix=J": "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
	} {
		s := &s3{region: "us-east-1", remote: remote{user: "AKIAIOSFODNN7EXAMPLE", password: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}}
		r, _ := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/?"+query, nil)
		s.signed(r, nil, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestTheRegionOfABucket is that of the host, or what the store says.
func TestTheRegionOfABucket(t *testing.T) {
	for address, want := range map[string]string{
		"s3:https://s3.eu-central-1.amazonaws.com/b":          "eu-central-1",
		"s3:https://s3-us-west-2.amazonaws.com/b":             "us-west-2",
		"s3:https://s3.us-west-004.backblazeb2.com/b/p":       "us-west-004",
		"s3:https://s3.eu-central-2.wasabisys.com/b":          "eu-central-2",
		"s3:https://fra1.digitaloceanspaces.com/b":            "fra1",
		"s3:https://s3.amazonaws.com/b":                       "us-east-1",
		"s3:https://minio.example.test/b":                     "us-east-1",
		"s3:https://minio.example.test/b?region=home":         "home",
		"s3:https://abc.r2.cloudflarestorage.com/b":           "us-east-1",
		"s3:https://s3.eu-central-1.amazonaws.com/b?region=x": "x",
	} {
		p, err := Places{Client: &http.Client{}}.Open(Target{Address: address})
		if err != nil || p.(*s3).region != want {
			t.Errorf("%s: %+v, %v", address, p, err)
		}
	}
	s := places.S3(t)
	wrong, requests := true, 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if wrong = !strings.Contains(r.Header.Get("Authorization"), "/eu-north-1/s3/"); wrong {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-north-1</Region></Error>"))
			return
		}
		s.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	d := ofServer("s3", s)
	d.target.Address = strings.Replace(d.target.Address, s.URL, front.URL, 1)
	p := d.open(t)
	for range 2 {
		if _, err := p.List(t.Context(), ""); err != nil || wrong {
			t.Error(err)
		}
	}
	if requests != 3 {
		t.Errorf("%d requests", requests)
	}
}

// TestAFolderThatIsNotThere: a drive that is not connected is not replaced by a new folder.
func TestAFolderThatIsNotThere(t *testing.T) {
	f := Folder(filepath.Join(t.TempDir(), "away"))
	if err := f.PutNew(context.Background(), lockName, []byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
