package seal

import (
	"maps"
	"sync/atomic"
)

// The known keys of this process. They are shared by all of it, because SQLite's access to files is. A key is forgotten
// only with the process: memory that is wiped by hand is not (docs/adr/0021).
var known atomic.Pointer[keys]

type keys struct {
	byID    map[string]Key
	current Lock // of the key that seals new files; without an ID, new files are plain
}

// Know makes a key known, so that files that are sealed with it can be opened.
func Know(k Key) { change(func(ks *keys) { ks.byID[k.ID()] = k }) }

// Use makes a key known, and seals new files with it.
func Use(l Lock, k Key) { change(func(ks *keys) { ks.byID[k.ID()], ks.current = k, l }) }

// UseNone leaves new files plain. Files that are sealed can still be opened.
func UseNone() { change(func(ks *keys) { ks.current = Lock{} }) }

func change(f func(*keys)) {
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

// Known reports whether any key is known. Without one, nothing is sealed and nothing sealed is opened.
func Known() bool { return known.Load() != nil }

// Current returns the key that seals new files, and its lock; false: they are plain.
func Current() (Lock, Key, bool) {
	ks := known.Load()
	if ks == nil || ks.current.Key == "" {
		return Lock{}, Key{}, false
	}
	return ks.current, ks.byID[ks.current.Key], true
}

func find(id string) (Key, bool) {
	ks := known.Load()
	if ks == nil {
		return Key{}, false
	}
	k, ok := ks.byID[id]
	return k, ok
}
