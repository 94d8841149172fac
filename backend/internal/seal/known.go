package seal

import (
	"maps"
	"sync"
	"sync/atomic"
)

// The known keys of this process. They are shared by all of it, because SQLite's access to files is. A key is forgotten
// only with the process: memory that is wiped by hand is not (docs/adr/0021).
var known atomic.Pointer[keys]

type keys struct {
	byID    map[string]Key
	current Lock // of the key that seals new files; without an ID, new files are plain
}

// offered is what a person gave to open sealed files with.
var offered struct {
	sync.Mutex
	secret  string
	refused map[string]bool // locks that it does not open
}

// Offer gives a passphrase or a recovery code: every sealed file that it opens can be opened from now on.
func Offer(secret string) {
	noDumps()
	offered.Lock()
	defer offered.Unlock()
	offered.secret, offered.refused = secret, map[string]bool{}
}

// Offered returns what was offered last; empty: nothing.
func Offered() string {
	offered.Lock()
	defer offered.Unlock()
	return offered.secret
}

// Unlock returns the key of a lock if it is known, or if what was offered opens it. Errors are ErrNoKey or ErrSignIn if
// nothing was offered, and those of Lock.Open.
func Unlock(l Lock) (Key, error) {
	if ks := known.Load(); ks != nil {
		if k, ok := ks.byID[l.Key]; ok {
			return k, nil
		}
	}
	offered.Lock()
	defer offered.Unlock()
	id := l.Key + string(l.Passphrase) + string(l.Recovery)
	switch {
	case offered.secret == "" && l.SignIn():
		return Key{}, ErrSignIn
	case offered.secret == "":
		return Key{}, ErrNoKey
	case offered.refused[id]:
		return Key{}, ErrPassphrase
	}
	k, err := l.Open(offered.secret)
	if err != nil {
		offered.refused[id] = true
		return k, err
	}
	Know(k)
	return k, nil
}

// Know makes a key known, so that files that are sealed with it can be opened.
func Know(k Key) { change(func(ks *keys) { ks.byID[k.ID()] = k }) }

// Use makes a key known, and seals new files with it.
func Use(l Lock, k Key) { change(func(ks *keys) { ks.byID[k.ID()], ks.current = k, l }) }

// UseNone leaves new files plain. Files that are sealed can still be opened.
func UseNone() { change(func(ks *keys) { ks.current = Lock{} }) }

func change(f func(*keys)) {
	noDumps()
	for {
		old := known.Load()
		next := &keys{byID: map[string]Key{}}
		if old != nil {
			next.current = old.current
			maps.Copy(next.byID, old.byID)
		}
		f(next)
		if known.CompareAndSwap(old, next) {
			return
		}
	}
}

// Known reports whether a key is known or may be found. Otherwise nothing is sealed and nothing sealed is opened.
func Known() bool {
	if known.Load() != nil {
		return true
	}
	return Offered() != ""
}

// Current returns the key that seals new files, and its lock; false: they are plain.
func Current() (Lock, Key, bool) {
	ks := known.Load()
	if ks == nil || ks.current.Key == "" {
		return Lock{}, Key{}, false
	}
	return ks.current, ks.byID[ks.current.Key], true
}
