package vault

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/transfer/bundle"
)

// Store is the data directory of this device.
type Store interface {
	// ThisDevice returns the id of this device, and its name for people.
	ThisDevice() (id, name string)
	// VaultState returns the state that NewVault or PutVault stored; nil: none.
	VaultState(ctx context.Context) ([]byte, error)
	// NewVault stores a state, and that the vault has nothing.
	NewVault(ctx context.Context, state []byte) error
	// PutVault stores the state, and that the vault has these segments.
	PutVault(ctx context.Context, state []byte, segments []bundle.Segment) error
	// Replacements returns what permanent deletions put in place of some events here; open: of some it is not known yet
	// what is to stand.
	Replacements(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (now map[ledger.Spot]bundle.Parcel, open bool, err error)
	// Contents returns the hashes of all contents that a session names.
	Contents(ctx context.Context, session chat.SessionID) ([]string, error)
	// Unsent returns about limit bytes of what the vault lacks.
	Unsent(ctx context.Context, limit int) (bundle.Unsent, error)
	// Lanes returns the number of the last event of each lane of a session.
	Lanes(ctx context.Context, session chat.SessionID) (map[string]int64, error)
	// Existing returns those of some events that exist here, and reports whether these are all.
	Existing(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (known []bundle.Parcel, all bool, err error)
	// Depart makes this data another device and stores the state. What the vault lacks of its own part is moved to the
	// new one; held are the sessions of which that is not possible, and whose last part is not sent. departed is false
	// if an answer is being written; nothing was changed then.
	Depart(ctx context.Context, state []byte) (departed bool, held []chat.SessionID, err error)
	// Receive merges events into a session, all or none.
	Receive(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (chat.Imported, error)
	// DeletedHere reports whether a session was permanently deleted, here or in the vault.
	DeletedHere(ctx context.Context, session chat.SessionID) (bool, error)
	// Gone lists the sessions that were deleted, and that a vault had, and what was deleted in others.
	Gone(ctx context.Context) ([]bundle.Gone, error)
	// PutGone adds what is known of the deletion of a session that does not exist here.
	PutGone(ctx context.Context, more bundle.Gone) error
	// Erased records that a file of the vault has nothing more of a deleted session, or of something in one, and what only
	// it named is gone.
	Erased(ctx context.Context, session chat.SessionID, of, file string) error
	// ByHand returns when a session last came in a bundle; empty: it did not.
	ByHand(ctx context.Context, session chat.SessionID) (string, error)
	// Aside makes a copy of a session with new ids.
	Aside(ctx context.Context, session chat.SessionID) (chat.SessionID, error)
}

// Deps are what a Vault needs.
type Deps struct {
	Store   Store
	Records Records
	Secrets *secrets.Store
	Now     clock.Clock
	Place   func(Target) (Place, error)
	Changed func([]chat.SessionID) // these sessions got events, or were deleted because they were deleted elsewhere
	Noted   func()                 // what Latest returns has changed
	// Deletable returns CodeConflict while an answer is being written because of which a session cannot be deleted.
	Deletable func(ctx context.Context, session chat.SessionID) error
	// Delete permanently deletes a session whose lanes still end where they were seen to; CodeConflict: it went on. If it
	// returns a receipt and an error, the rest is done at the next start.
	Delete func(ctx context.Context, session chat.SessionID, seen map[string]int64) (chat.Receipt, error)
	// Undeleted returns the turns that another device deleted, and of which something is here: according to what is here of a
	// session, and to events that are to come. DeleteTurn permanently deletes the content of one. CodeConflict: not now.
	Undeleted  func(ctx context.Context, session chat.SessionID, coming []bundle.Parcel) ([]chat.TurnID, error)
	DeleteTurn func(ctx context.Context, session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) (chat.Receipt, error)
	Valued     func() // something outside of sessions has changed because it was changed elsewhere
	// Uncertified returns the sessions with something in place of what was deleted elsewhere, if nothing here says so yet.
	Uncertified func(ctx context.Context) ([]chat.SessionID, error)
}

// Vault exchanges sessions with other devices. Its methods may be called concurrently; one exchange runs at a time.
type Vault struct {
	Deps
	busy    chan struct{} // holds something while the vault is used
	tried   sync.Map      // names of files that wait: trial; objects that an older key seals, and that do not count
	refused refused       // used as busy says

	mu     sync.Mutex
	latest Latest
	until  context.Context // ends when the vault is to be changed
	change context.CancelFunc
}

// New returns the vault of a data directory, which may have none yet.
func New(d Deps) *Vault {
	v := &Vault{Deps: d, busy: make(chan struct{}, 1)}
	v.until, v.change = context.WithCancel(context.Background())
	return v
}

// use waits until nobody else uses the vault. The returned context ends when ctx does, or when the vault is to be changed.
func (v *Vault) use(ctx context.Context, op string) (_ context.Context, done func(), err error) {
	v.mu.Lock()
	until := v.until
	v.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	kept := context.AfterFunc(until, cancel)
	select {
	case v.busy <- struct{}{}:
		done = func() { kept(); cancel(); <-v.busy }
		if ctx.Err() == nil {
			return ctx, done, nil
		}
		done()
	case <-ctx.Done():
		cancel()
	}
	return nil, nil, chat.WrapError(chat.CodeCancelled, op, ctx.Err(), "This was cancelled while another exchange was running; nothing was changed.")
}

// useAlone is use of a call that changes the vault. It ends what runs and what waits, which may end at any point.
func (v *Vault) useAlone(ctx context.Context, op string) (done func(), err error) {
	v.mu.Lock()
	v.change()
	v.until, v.change = context.WithCancel(context.Background())
	v.mu.Unlock()
	_, done, err = v.use(ctx, op)
	return done, err
}

// state is what this device remembers of its vault. The key is in the database because that is sealed if anything is.
type state struct {
	Address string              `json:"address"`
	User    string              `json:"user,omitempty"`
	Env     string              `json:"env,omitempty"` // the variable that has the password; empty: the keyring has it
	ID      string              `json:"id"`
	Key     []byte              `json:"key"`  // the keys, oldest first, one after the other
	Logs    map[string]position `json:"logs"` // by names of devices: what is known of their logs
	// Waiting are files of these with parts of sessions that could not be applied.
	Waiting map[string][]waiting `json:"waiting,omitempty"`
	// Values are the numbers of the last values that were taken, by names of devices. Sent are those of this device.
	Values map[string]int64 `json:"values,omitempty"`
	Sent   position         `json:"sent_values,omitzero"`
	// Met: the values of all others were read once. Until then what was deleted elsewhere stays.
	Met bool `json:"met,omitempty"`
	// Exchanged is when the last exchange ended without an error; within the hour if nothing was exchanged.
	Exchanged string `json:"exchanged,omitempty"`
	// Came is when this data was connected to the vault, restored or copied. Who deleted a session before did not know
	// that it is in this data, so here it becomes a session of its own.
	Came string `json:"came,omitempty"`
}

// position is how far a log was written or read.
type position struct {
	Number int64  `json:"number"`
	Sum    []byte `json:"sum"` // of the file of this number
}

// waiting is a file of a log that was read, some parts of which wait for others.
type waiting struct {
	position
	Parts int `json:"parts"`
}

// lockFile is vault.json, or keys/N. No other object is plain.
type lockFile struct {
	Version int       `json:"version"`
	ID      string    `json:"id"` // of the vault, random
	Lock    seal.Lock `json:"lock"`
	Renewal []byte    `json:"renewal,omitempty"` // of keys/N, sealed with this key
}

const (
	opConnect = "vault.connect"
	opSync    = "vault.sync"
)

// Connected is the result of Connect.
type Connected struct {
	Created bool
	Code    string // the recovery code of a vault that was created
}

// Connect chooses the place of the vault. Without a vault there, one is created, with a new recovery code. secret is its
// passphrase or its recovery code.
func (v *Vault) Connect(ctx context.Context, t Target, secret string) (Connected, error) {
	return v.ConnectWith(ctx, t, secret, seal.NewCode())
}

// Find reports whether there is a vault in a place.
func (v *Vault) Find(ctx context.Context, t Target) (found bool, err error) {
	if _, err := v.check(&t); err != nil {
		return false, err
	}
	place, err := v.Place(t)
	if err != nil {
		return false, err
	}
	switch _, err = place.Get(ctx, lockName); {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrMissing):
		err = free(ctx, place)
	}
	if err != nil {
		err = placeError(opConnect, t.Address, err)
	}
	return false, err
}

// ConnectWith is Connect with the recovery code of a vault that is created.
func (v *Vault) ConnectWith(ctx context.Context, t Target, secret, code string) (out Connected, err error) {
	if secret == "" {
		return out, chat.Errorf(chat.CodeInvalid, opConnect, "The passphrase is empty; nothing was changed.")
	}
	env, err := v.check(&t)
	if err != nil {
		return out, err
	}
	place, err := v.Place(t)
	if err != nil {
		return out, err
	}
	raw, err := place.Get(ctx, lockName)
	if errors.Is(err, ErrMissing) {
		switch err = create(ctx, place, secret, code); {
		case err == nil:
			out = Connected{Created: true, Code: code}
		case errors.Is(err, ErrExists): // another device was faster
			err = nil
		}
		if err == nil {
			raw, err = place.Get(ctx, lockName)
		}
	}
	if err != nil {
		return out, placeError(opConnect, t.Address, err)
	}
	lock, err := readLock(t.Address, lockName, raw)
	if err != nil {
		return out, err
	}
	newest, n, err := newestLock(ctx, place, t.Address, lock)
	if err != nil {
		return out, err
	}
	keys, now, err := unlock(t.Address, lock, newest, n, secret)
	if err != nil {
		return out, err
	}
	if n == 1 && lock.Lock.OpensCode(code) { // also if an earlier call created it and failed afterwards
		out = Connected{Created: true, Code: code}
	}
	done, err := v.useAlone(ctx, opConnect)
	if err != nil {
		return out, err
	}
	defer done()
	before, err := v.state(ctx)
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return out, err
	}
	s := state{ID: lock.ID, Logs: map[string]position{}, Came: chat.FormatTime(v.Now.Now())}
	known := err == nil && before.ID == lock.ID // the same one, perhaps elsewhere
	if known {
		s = before
	}
	s.Address, s.User, s.Env = t.Address, t.User, env
	if err := v.takeKeys(ctx, place, &s, keys, now); err != nil {
		return out, err
	}
	if err := v.keep(t, env); err != nil {
		return out, err
	}
	if known {
		err = v.put(ctx, s, nil)
	} else if text, err2 := chat.MarshalJSON(s); err2 == nil {
		err = v.Store.NewVault(ctx, text)
	}
	if err == nil {
		v.TryAll()
		v.forget(before, s)
		v.note(func(l *Latest) { *l = Latest{} })
	}
	return out, err
}

// create stores a new vault.json.
func create(ctx context.Context, place Place, secret, code string) error {
	err := free(ctx, place)
	if err != nil {
		return err
	}
	key := seal.NewKey()
	l := lockFile{Version: formatVersion, ID: seal.NewKey().Name("vault")}
	if l.Lock, err = seal.NewLock(key, secret, code); err != nil {
		return err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = place.PutNew(ctx, lockName, append(text, '\n'))
	}
	return err
}

// free returns an error if a place has parts of a vault.
func free(ctx context.Context, place Place) error {
	objects, err := place.List(ctx, "")
	if err == nil && slices.ContainsFunc(objects, func(o Object) bool { return ours.MatchString(o.Name) }) {
		err = errNoLock
	}
	return err
}

// errNoLock means that a folder has parts of a vault without its vault.json.
var errNoLock = errors.New("it has parts of a vault, and no vault.json")

// ours matches the names of objects. Others, such as the copies that Syncthing makes of conflicts, are ignored.
var ours = regexp.MustCompile(`^(?:keys/[1-9][0-9]{0,3}|devices/[0-9a-f]{32}|content/[0-9a-f]{32}|log/([0-9a-f]{32})/(?:([0-9]{8})(?:-([1-9][0-9]{0,5}))?|values-[0-9]{8}))$`)

func isObject(name string) bool { return name == lockName || ours.MatchString(name) }

// numberOf returns the place of a file in a log, and how often it was written again without sessions that were deleted.
func numberOf(name string) (device string, number int64, again int, ok bool) {
	m := ours.FindStringSubmatch(name)
	if m == nil || m[2] == "" {
		return "", 0, 0, false
	}
	number, err := strconv.ParseInt(m[2], 10, 64)
	again, _ = strconv.Atoi(m[3])
	return m[1], number, again, err == nil && number > 0
}

func readLock(address, name string, raw []byte) (lockFile, error) {
	var l lockFile
	err := json.Unmarshal(raw, &l)
	switch {
	case err == nil && l.Version > formatVersion:
		return l, chat.Errorf(chat.CodeNewer, opSync, "The vault in %s was made by a newer version of this program; nothing was changed.", address).
			WithHint("update the program on this computer")
	case err != nil || l.ID == "" || !l.Lock.Valid():
		return l, damagedLock(address, name, err)
	}
	return l, nil
}

func damagedLock(address, name string, err error) error {
	e := chat.WrapError(chat.CodeCorrupt, opSync, err, "%s in %s is damaged; nothing was changed.", name, address)
	if name != lockName {
		return e.WithHint("take it from another copy of the folder; or delete it, if none of your computers has removed one: then somebody else put it there")
	}
	return e.WithHint("take it from another copy of the folder; it never changes")
}

// placeError is the error of a place, for people.
func placeError(op, address string, err error) error {
	if errors.Is(err, errNoLock) {
		return chat.WrapError(chat.CodeNotFound, op, err, "%s has parts of a vault, but no vault.json; nothing was changed.", address).
			WithHint("wait until the folder is synchronized completely, or choose an empty folder")
	}
	if e := new(chat.Error); errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	return chat.WrapError(chat.CodeUnavailable, op, err, "The vault in %s cannot be reached; nothing is lost, and the next exchange continues.", address).
		WithHint("connect the drive, or look at its free space and permissions")
}

// state returns what is remembered; CodeNotFound if there is no vault.
func (v *Vault) state(ctx context.Context) (s state, err error) {
	raw, err := v.Store.VaultState(ctx)
	if err == nil && (raw == nil || json.Unmarshal(raw, &s) != nil || len(s.Key) == 0 || len(s.Key)%len(seal.Key{}) != 0) {
		return s, chat.Errorf(chat.CodeNotFound, opSync, "No vault was chosen yet.").
			WithHint("contextinfinity sync --vault ADDRESS --passphrase-file FILE")
	}
	if s.Waiting == nil {
		s.Waiting = map[string][]waiting{}
	}
	return s, err
}

func (v *Vault) put(ctx context.Context, s state, segments []bundle.Segment) error {
	text, err := chat.MarshalJSON(s)
	if err == nil {
		err = v.Store.PutVault(ctx, text, segments)
	}
	return err
}

// exchange is one use of the vault.
type exchange struct {
	*Vault
	ctx       context.Context
	box       box
	lock      lockFile // of the newest key
	state     state
	own       string                      // the name of this device
	logs      map[string]map[int64]Object // the files that are there, by device
	stale     []string                    // files that were written again
	snapshots map[string][]int64          // the numbers of the values that are there, by device
	names     map[string]string           // of devices, for people, as far as they were asked for
	report    Report
	reported  int     // of the report's sessions: passed to Changed
	learned   int     // deletions that were not known before
	held      []error // problems of this device becoming another one
}

// open opens the vault and lists its files. The vault must be the one that is remembered: nothing is concluded from an
// empty folder or from another vault.
func (v *Vault) open(ctx context.Context) (*exchange, error) {
	s, err := v.state(ctx)
	if err != nil {
		return nil, err
	}
	place, err := v.reach(s)
	if err != nil {
		return nil, err
	}
	raw, err := place.Get(ctx, lockName)
	if errors.Is(err, ErrMissing) {
		return nil, chat.Errorf(chat.CodeNotFound, opSync, "There is no vault in %s: its vault.json is missing. Nothing was changed here or there.", s.Address).
			WithHint("wait until the folder is synchronized completely, or begin another one: Settings, Several computers, or contextinfinity sync --vault ADDRESS")
	}
	if err != nil {
		return nil, placeError(opSync, s.Address, err)
	}
	x := newExchange(v, ctx, place, s)
	if x.lock, err = readLock(s.Address, lockName, raw); err != nil {
		return nil, err
	}
	if x.lock.ID != s.ID || x.lock.Lock.Key != x.box.keys[0].ID() {
		return nil, chat.Errorf(chat.CodeConflict, opSync, "%s has another vault than before. Nothing was changed here or there.", s.Address).
			WithHint("put the vault back, or use the other one: Settings, Several computers, or contextinfinity sync --vault ADDRESS")
	}
	if err := x.newest(); err != nil {
		return nil, err
	}
	return x, x.listLogs()
}

func newExchange(v *Vault, ctx context.Context, place Place, s state) *exchange {
	return &exchange{Vault: v, ctx: ctx, box: box{place: place, keys: keysIn(s.Key)}, state: s, logs: map[string]map[int64]Object{}, snapshots: map[string][]int64{}, names: map[string]string{}}
}

// listLogs lists the files of all logs.
func (x *exchange) listLogs() error {
	objects, err := x.box.place.List(x.ctx, logDir)
	if err != nil {
		return placeError(opSync, x.state.Address, err)
	}
	id, name := x.Store.ThisDevice()
	x.own = x.box.deviceName(id)
	for _, o := range objects {
		x.list(o)
	}
	known := slices.AppendSeq(slices.Collect(maps.Keys(x.state.Logs)), maps.Keys(x.snapshots))
	if name != "" { // it is not read with the data open for reading only
		known, x.names[x.own] = append(known, x.own), name
	}
	for _, device := range known { // some have no files yet, or none any more
		if x.logs[device] == nil {
			x.logs[device] = map[int64]Object{}
		}
	}
	return nil
}

// list adds an object to the files of the logs. Of the same file, the one that was written last counts.
func (x *exchange) list(o Object) {
	device, number, again, ok := numberOf(o.Name)
	if !ok {
		x.listSnapshot(o.Name)
		return
	}
	if x.logs[device] == nil {
		x.logs[device] = map[int64]Object{}
	}
	if other, known := x.logs[device][number]; known {
		if _, _, before, _ := numberOf(other.Name); before > again {
			o, other = other, o
		}
		x.stale = append(x.stale, other.Name)
	}
	x.logs[device][number] = o
}

// read returns a file of a log; leave is that of box.read.
func (x *exchange) read(device string, number int64, leave func(chat.SessionID, string) bool) (file, error) {
	o, ok := x.logs[device][number]
	if !ok {
		return file{}, ErrMissing
	}
	if _, older := x.tried.Load(o); older && device != x.box.late {
		return file{}, errOlder
	}
	f, err := x.box.read(x.ctx, o.Name, leave)
	if errors.Is(err, errOlder) {
		x.tried.Store(o, nil)
	}
	return f, err
}

// leave returns what tells box.read to leave out the contents of sessions that were deleted: they may be gone.
func (x *exchange) leave() func(chat.SessionID, string) bool {
	var gone map[chat.SessionID]bool
	return func(session chat.SessionID, _ string) bool {
		if gone == nil {
			gone = map[chat.SessionID]bool{}
			all, _ := x.Store.Gone(x.ctx) // after an error they are read
			for _, g := range all {
				gone[g.Session] = gone[g.Session] || g.Of == ""
			}
		}
		return gone[session]
	}
}

// deviceFile says what a device is called.
type deviceFile struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

// nameOf returns what a device is called; a part of its name in the vault if that is not known.
func (x *exchange) nameOf(device string) string {
	if x.names[device] == "" {
		var d deviceFile
		raw, err := x.box.get(x.ctx, devicesDir+device)
		if err != nil || json.Unmarshal(raw, &d) != nil || d.Name == "" {
			d.Name = device[:8]
		}
		x.names[device] = d.Name
	}
	return x.names[device]
}

// introduce stores what this device is called, before its first file.
func (x *exchange) introduce() error {
	if x.last(x.own) > 0 || len(x.snapshots[x.own]) > 0 {
		return nil
	}
	raw, err := chat.MarshalJSON(deviceFile{formatVersion, x.nameOf(x.own)})
	if err == nil {
		_, err = x.box.put(x.ctx, devicesDir+x.own, raw)
	}
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}
