package store

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/vault"
	"contextinfinity/test/places"
)

// joinServer connects a device to a vault on a server.
func (d *device) joinServer(s *places.Server) *member {
	d.Helper()
	code, lock := aVault()
	s.Fail(nil)
	if s.Objects()["vault.json"] == nil {
		s.Put("vault.json", lock)
	}
	client := &http.Client{Transport: &http.Transport{}}
	m := &member{device: d, server: s, place: vault.Places{Client: client, Backoff: time.Millisecond, Idle: time.Second}.Open}
	m.begin()
	_, err := m.vault.Connect(d.ctx, vault.Target{Address: s.Address, User: places.User, Password: places.Password}, code)
	d.ok(err)
	return m
}

// objects are what is in the vault, by name.
func (m *member) objects() map[string][]byte {
	if m.server != nil {
		return m.server.Objects()
	}
	return objects(m, m.folder)
}

// fill makes the vault contain these objects and no others.
func (m *member) fill(files map[string][]byte) {
	if m.server != nil {
		m.server.Fill(files)
		return
	}
	fill(m, m.folder, files)
}

// memory is a keyring.
type memory map[string]string

func (m memory) Get(_, user string) (string, error) {
	if text, ok := m[user]; ok {
		return text, nil
	}
	return "", secrets.ErrNotFound
}
func (m memory) Set(_, user, text string) error { m[user] = text; return nil }
func (m memory) Delete(_, user string) error    { delete(m, user); return nil }

func servers(t *testing.T) map[string]*places.Server {
	return map[string]*places.Server{"s3": places.S3(t), "webdav": places.WebDAV(t)}
}

// TestDevicesConvergeThroughAServer: two devices write, while three requests of ten fail, then the credentials expire and the
// place is full in the middle of exchanges. Nothing is lost, nothing is there twice, and nothing can be read there.
func TestDevicesConvergeThroughAServer(t *testing.T) {
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			devs, s := devices(t, 2)
			a, b := devs[0].joinServer(server), devs[1].joinServer(server)
			all := []*member{a, b}
			a.ok(a.RenameSession(a.ctx, s.ID, "canary title"))
			failed, said := 0, map[chat.Code]bool{}
			exchange := func() {
				for _, m := range all {
					out, err := m.vault.Sync(m.ctx)
					for range 50 {
						if err == nil {
							break
						}
						failed++
						said[chat.CodeOf(err)] = true
						out, err = m.vault.Sync(m.ctx)
					}
					m.ok(err)
					for _, p := range out.Problems {
						t.Errorf("%s: %v", m.name, p)
					}
				}
			}
			for round := range 2 {
				server.Unreliable(int64(round), places.Refuse, places.Cut, places.CutAfter, places.FailAfter, places.HalfBody)
				a.full(a.own(s.ActiveBranch, true), "canary question", "canary answer "+strings.Repeat("with many words ", 5_000))
				b.full(b.own(s.ActiveBranch, true), "asked by B", "said by B")
				exchange()
			}
			for _, fault := range []places.Fault{places.Expired, places.Full} {
				a.full(a.own(s.ActiveBranch, true), "canary question", "canary answer "+strings.Repeat("with more words ", 5_000))
				before, times := 3, 2 // requests before it happens, and how often
				server.Fail(func(r *http.Request) places.Fault {
					if before--; before >= 0 || times == 0 || fault == places.Full && r.Method != http.MethodPut {
						return places.None
					}
					times--
					return fault
				})
				exchange()
			}
			if !said[chat.CodeAuth] || !said[chat.CodeNoSpace] {
				t.Errorf("what was said: %v", said)
			}
			server.Fail(nil)
			for range 2 {
				exchange()
			}
			events := 0
			for _, m := range all {
				before := server.Requests()
				if out := m.sync(); out.SentFiles+out.ReceivedEvents > 0 {
					t.Errorf("%s: %+v after everything was exchanged", m.name, out)
				}
				if n := server.Requests() - before; n > 6 {
					t.Errorf("%s: %d requests for an exchange of nothing", m.name, n)
				}
				m.verifyClean()
				checked, err := m.vault.Check(m.ctx)
				m.ok(err)
				if events = checked.Events; len(checked.Problems) > 0 {
					t.Errorf("%s: %v", m.name, checked.Problems)
				}
				for _, x := range ledger.Compare(m.state(s.ID), a.state(s.ID)) {
					t.Errorf("%s: %+v", m.name, x)
				}
			}
			there := 0
			for _, n := range a.lanes(s.ID) {
				there += n
			}
			if events != there || !maps.Equal(a.lanes(s.ID), b.lanes(s.ID)) {
				t.Errorf("%d events in the vault, %v in A, %v in B", events, a.lanes(s.ID), b.lanes(s.ID))
			}
			for object, content := range server.Objects() {
				for _, secret := range []string{"canary", "question", "many words", string(s.ID), a.core.Device().ID, "machine A", places.Password} {
					if strings.Contains(object+"\n"+string(content), secret) {
						t.Errorf("%s contains %q", object, secret)
					}
				}
			}
			t.Logf("%d requests, %d exchanges failed", server.Requests(), failed)
		})
	}
}

// TestAnExchangeWithAServerThatIsKilledContinues: as TestAnExchangeThatIsKilledContinues, at each write of an exchange.
func TestAnExchangeWithAServerThatIsKilledContinues(t *testing.T) {
	for name, server := range servers(t) {
		devs, s := devices(t, 1)
		a := devs[0].joinServer(server)
		ended := false
		for n := 1; !ended; n++ {
			for _, after := range []bool{false, true} {
				a.full(s.ActiveBranch, "by A", strings.Repeat("a long answer ", 5_000))
				place, err := a.place(vault.Target{Address: server.Address, User: places.User, Password: places.Password})
				a.ok(err)
				k := &killed{Place: place, Store: a.Store, left: n, after: after}
				dying := a.vault.Deps
				dying.Store, dying.Place = k, func(vault.Target) (vault.Place, error) { return k, nil }
				_, err = vault.New(dying).Sync(a.ctx)
				ended = err == nil
				a.begin()
				a.sync()
			}
		}
		checked, err := a.vault.Check(a.ctx)
		a.ok(err)
		there := 0
		for _, n := range a.lanes(s.ID) {
			there += n
		}
		if checked.Events != there || len(checked.Problems) > 0 {
			t.Errorf("%s: %d events in the vault and %d here, %v", name, checked.Events, there, checked.Problems)
		}
	}
}

// TestThePasswordOfAVault is in the keyring or in the environment, and nowhere else.
func TestThePasswordOfAVault(t *testing.T) {
	server := places.WebDAV(t)
	d := &device{fixture: newFixture(t), name: "A"}
	m := d.joinServer(server)
	code, _ := aVault()
	stored := func() string {
		state, err := d.VaultState(d.ctx)
		d.ok(err)
		if text := string(state); strings.Contains(text, "canary") || !strings.Contains(text, server.Address) {
			t.Errorf("the state is %s", text)
		}
		return string(state)
	}
	stored()
	keyring := memory{}
	env := map[string]string{}
	keys := func() *secrets.Store {
		return secrets.NewWith(secrets.Options{Keyring: keyring, Getenv: func(name string) string { return env[name] }})
	}
	start := func() { m.keys = keys(); m.begin() }
	start()
	if _, err := m.vault.Sync(m.ctx); chat.CodeOf(err) != chat.CodeAuth || !strings.Contains(err.Error(), "The keyring does not have the password") {
		t.Errorf("without the password: %v", err)
	}
	connect := func(t vault.Target) error {
		t.Address = server.Address
		_, err := m.vault.Connect(m.ctx, t, code)
		return err
	}
	if err := connect(vault.Target{User: places.User, Password: "wrong"}); chat.CodeOf(err) != chat.CodeAuth || len(keyring) > 0 {
		t.Errorf("a wrong one: %v, %v", err, keyring)
	}
	m.ok(connect(vault.Target{User: places.User, Password: places.Password}))
	stored()
	start()
	m.sync()
	if len(keyring) != 1 {
		t.Errorf("the keyring has %v", keyring)
	}
	if err := connect(vault.Target{User: places.User, Password: "${env:VAULT}"}); err == nil || !strings.Contains(err.Error(), "VAULT, which is not set") {
		t.Errorf("an unset variable: %v", err)
	}
	env["VAULT"] = places.Password
	m.ok(connect(vault.Target{User: places.User, Password: "${env:VAULT}"}))
	if text := stored(); len(keyring) > 0 || !strings.Contains(text, "VAULT") {
		t.Errorf("the keyring has %v, the state %s", keyring, text)
	}
	start()
	m.sync()
	delete(env, "VAULT")
	start()
	if _, err := m.vault.Sync(m.ctx); chat.CodeOf(err) != chat.CodeAuth || !strings.Contains(err.Error(), "VAULT, which is not set") {
		t.Errorf("an unset variable: %v", err)
	}
	for _, target := range []vault.Target{{User: "u"}, {Password: "p"}, {User: "u", Password: "${env:A B}"}} {
		if err := connect(target); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%v: %v", target, err)
		}
	}
	m.keys = secrets.NewWith(secrets.Options{Keyring: broken{}})
	m.begin()
	if err := connect(vault.Target{User: places.User, Password: places.Password}); err == nil || !strings.Contains(err.Error(), "No keyring is available") {
		t.Errorf("without a keyring: %v", err)
	}
}

// broken is a keyring that cannot be used.
type broken struct{}

func (broken) Get(string, string) (string, error) { return "", errDied }
func (broken) Set(string, string, string) error   { return errDied }
func (broken) Delete(string, string) error        { return errDied }
