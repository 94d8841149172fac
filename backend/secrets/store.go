package secrets

import (
	"cmp"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/zalando/go-keyring"

	"contextinfinity/backend/chat"
)

// Service is the name under which the keyring stores this program's keys; the user there is the provider's name.
const Service = "contextinfinity"

// Source is where a key was found.
type Source string

const (
	SourceNone        Source = ""
	SourceKeyring     Source = "keyring"
	SourceEnvironment Source = "environment"
	SourceRun         Source = "this run" // in memory only: there is no keyring
)

// Keyring is the system's store of secrets. Get and Delete return ErrNotFound for a missing key; any other error
// means that the keyring cannot be used.
type Keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, password string) error
	Delete(service, user string) error
}

// ErrNotFound is a Keyring's error for a key it does not have.
var ErrNotFound = keyring.ErrNotFound

// Options are for tests; the zero value is the real system.
type Options struct {
	Keyring Keyring
	Getenv  func(string) string
	Timeout time.Duration // how long the keyring may take; 2 s
	Fresh   time.Duration // how long its answer is used; 1 minute
	Now     func() time.Time
}

// Store finds and stores keys. It is safe for concurrent use.
type Store struct {
	opts     Options
	redactor *Redactor
	calls    chan struct{} // holds a token during a keyring call

	mu      sync.Mutex
	run     map[string]Key     // kept in memory, because there is no keyring
	answers map[string]*answer // of the keyring, by provider
	down    error              // the last call failed or hung; nil while it works
}

// answer is the keyring's answer about one provider, or a pending one.
type answer struct {
	done     chan struct{} // closed when key and at are set
	key      Key
	previous Key // the key of the previous answer, used until done
	at       time.Time
	waited   bool // one caller has waited until the timeout without an answer
}

// New opens the system's keyring and environment. It reads neither yet.
func New() *Store { return NewWith(Options{}) }

// NewWith is New with options.
func NewWith(opts Options) *Store {
	if opts.Keyring == nil {
		opts.Keyring = systemKeyring{}
	}
	if opts.Getenv == nil {
		opts.Getenv = Getenv
	}
	opts.Timeout = cmp.Or(opts.Timeout, 2*time.Second)
	opts.Fresh = cmp.Or(opts.Fresh, time.Minute)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Store{
		opts: opts, redactor: NewRedactor(), calls: make(chan struct{}, 1),
		run: map[string]Key{}, answers: map[string]*answer{},
	}
}

type systemKeyring struct{}

func (systemKeyring) Get(s, u string) (string, error) { return keyring.Get(s, u) }
func (systemKeyring) Set(s, u, p string) error        { return keyring.Set(s, u, p) }
func (systemKeyring) Delete(s, u string) error        { return keyring.Delete(s, u) }

// Redactor hides every key this store has seen.
func (s *Store) Redactor() *Redactor { return s.redactor }

// Warm requests the providers' keys from the keyring in the background, so that the first Get need not wait.
func (s *Store) Warm(providers ...string) {
	for _, p := range providers {
		if p != "" {
			s.answerFor(p)
		}
	}
}

// Get finds the key of a provider, whose environment variable is env; either may be empty. Without a key it returns
// the zero Key and SourceNone.
func (s *Store) Get(provider, env string) (Key, Source) {
	if provider != "" {
		s.mu.Lock()
		k, ok := s.run[provider]
		s.mu.Unlock()
		if ok {
			return k, SourceRun
		}
		if k := s.fromKeyring(provider); !k.IsZero() {
			return k, SourceKeyring
		}
	}
	if env == "" {
		return Key{}, SourceNone
	}
	if text := strings.TrimSpace(s.opts.Getenv(env)); text != "" {
		s.redactor.Add(text)
		return newKey(text), SourceEnvironment
	}
	return Key{}, SourceNone
}

// Text returns a secret that SetText stored, and adds it to the texts that are redacted.
func (s *Store) Text(name string) (string, bool) {
	key, _ := s.Get(name, "")
	raw, err := base64.StdEncoding.DecodeString(key.Reveal())
	if err != nil || len(raw) == 0 {
		return "", false
	}
	s.redactor.Add(string(raw))
	return string(raw), true
}

// maxText limits a secret, in bytes.
const maxText = 11 << 10

// SetText is Set for a secret that may have spaces and line breaks. It is stored as Base64.
func (s *Store) SetText(name, text string) (Source, error) {
	if len(text) > maxText || strings.ContainsRune(text, 0) {
		return SourceNone, chat.Errorf(chat.CodeInvalid, "secret.set", "This is too long for a secret, or is not text; nothing was changed.")
	}
	s.redactor.Add(text)
	return s.Set(name, base64.StdEncoding.EncodeToString([]byte(text)))
}

// Source returns where Get would find the key.
func (s *Store) Source(provider, env string) Source {
	_, source := s.Get(provider, env)
	return source
}

// KeyringOK reports whether this system has a working keyring.
func (s *Store) KeyringOK() bool {
	s.fromKeyring("keyring-check")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down == nil
}

// Set stores a key: in the keyring, or without a keyring for this run only; the returned source says which.
func (s *Store) Set(provider, text string) (Source, error) {
	text = strings.TrimSpace(text)
	if err := checkKey(provider, text); err != nil {
		return SourceNone, err
	}
	s.redactor.Add(text)
	k := newKey(text)
	err := s.call(func() error { return s.opts.Keyring.Set(Service, provider, text) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
	if err != nil {
		s.run[provider] = k
		return SourceRun, nil
	}
	delete(s.run, provider)
	s.answers[provider] = s.knownAnswer(k)
	return SourceKeyring, nil
}

func checkKey(provider, text string) error {
	const op = "keys.set"
	const maxLength = 16 << 10
	switch {
	case strings.TrimSpace(provider) == "":
		return chat.Errorf(chat.CodeInvalid, op, "a key needs the name of its provider")
	case text == "":
		return chat.Errorf(chat.CodeInvalid, op, "the key is empty; nothing was changed").WithHint("paste the key, or remove it instead")
	case len(text) > maxLength:
		return chat.Errorf(chat.CodeInvalid, op, "this is too long for a key; nothing was changed")
	case strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) || r == ' ' }):
		return chat.Errorf(chat.CodeInvalid, op, "this is not a key: keys have no spaces, line breaks or special characters; nothing was changed").
			WithHint("copy only the key")
	}
	return nil
}

// Remove deletes a provider's key from this run and from the keyring. A key in the environment stays, because only
// its owner can remove it.
func (s *Store) Remove(provider string) error {
	const op = "keys.remove"
	s.mu.Lock()
	_, inRun := s.run[provider]
	delete(s.run, provider)
	s.mu.Unlock()
	err := s.call(func() error { return s.opts.Keyring.Delete(Service, provider) })
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
	if err == nil {
		s.answers[provider] = s.knownAnswer(Key{})
		return nil
	}
	if inRun && !errors.Is(err, errNoResponse) {
		return nil // without a keyring it was only in memory
	}
	return chat.WrapError(chat.CodeUnavailable, op, s.redactor.Error(err), "the system keyring did not respond; a key stored in it is still there").
		WithHint("unlock the keyring and try again")
}

// knownAnswer returns an answer with a known key.
func (s *Store) knownAnswer(k Key) *answer {
	a := &answer{done: make(chan struct{}), key: k, at: s.opts.Now()}
	close(a.done)
	return a
}

// fromKeyring waits for the keyring's answer up to the timeout; after one timeout it no longer waits for that answer.
func (s *Store) fromKeyring(provider string) Key {
	a := s.answerFor(provider)
	s.mu.Lock()
	waited := a.waited
	s.mu.Unlock()
	timeout := s.opts.Timeout
	if waited {
		timeout = 0
	}
	if !await(a.done, timeout) {
		s.mu.Lock()
		a.waited = true
		s.down = errNoResponse
		s.mu.Unlock()
		return a.previous
	}
	return a.key
}

func await(done <-chan struct{}, timeout time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	if timeout <= 0 {
		return false
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// answerFor returns the keyring's answer about a provider, and requests it if there is none or it is stale: another
// process, such as the command line, may have changed the key.
func (s *Store) answerFor(provider string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var previous Key
	if a := s.answers[provider]; a != nil {
		select {
		case <-a.done:
			if s.opts.Now().Sub(a.at) < s.opts.Fresh {
				return a
			}
			previous = a.key
		default:
			return a // in progress
		}
	}
	// While the keyring is known to hang, no call waits for it again.
	a := &answer{done: make(chan struct{}), previous: previous, waited: errors.Is(s.down, errNoResponse)}
	s.answers[provider] = a
	go s.lookUp(provider, a)
	return a
}

// lookUp asks the keyring, however long it takes, and records the answer.
func (s *Store) lookUp(provider string, a *answer) {
	s.calls <- struct{}{}
	text, err := s.opts.Keyring.Get(Service, provider)
	<-s.calls
	switch {
	case errors.Is(err, ErrNotFound):
		err = nil
	case err != nil:
		a.key = a.previous // a keyring that fails now still has the earlier key
	case text != "":
		s.redactor.Add(text)
		a.key = newKey(text)
	}
	s.mu.Lock()
	a.at, s.down = s.opts.Now(), err
	s.mu.Unlock()
	close(a.done)
}

var errNoResponse = errors.New("the system keyring does not respond")

// call runs f, a change of the keyring, after the call in progress and within the timeout. If it takes longer it
// continues, but the caller gets errNoResponse.
func (s *Store) call(f func() error) error {
	result := make(chan error, 1)
	timer := time.NewTimer(s.opts.Timeout)
	defer timer.Stop()
	select {
	case s.calls <- struct{}{}:
	case <-timer.C:
		return errNoResponse // another call hangs; f was not started
	}
	go func() {
		err := f()
		<-s.calls
		result <- err
	}()
	select {
	case err := <-result:
		return err
	case <-timer.C:
		return errNoResponse
	}
}
