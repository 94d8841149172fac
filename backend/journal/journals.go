package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/faultfs"
)

// Durability is stream.durability (SPEC 5).
type Durability string

const (
	// Buffered: text may be shown before it is durable.
	Buffered Durability = "buffered"
	// WriteAhead: text is shown only when OnDurable reports it.
	WriteAhead Durability = "write_ahead"
)

// The defaults of SRD 13.2 and SPEC 5.
const (
	defaultFlushMs    = 250
	defaultFlushBytes = 8 << 10
	defaultFsyncMs    = 2000
	defaultGroupMs    = 50
)

const extension = ".jsonl"

// Options configure Journals. Zero numbers mean the defaults.
type Options struct {
	Dir        string // {data_dir}/streams
	FS         FS     // nil: the operating system's
	Durability Durability
	FlushMs    int // maximum time that lines wait in memory while the disk stalls
	FlushBytes int // maximum size of these lines
	FsyncMs    int // maximum time between writing a line and its fsync
	GroupMs    int // minimum time between two fsyncs in WriteAhead
	Clock      clock.Clock
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = OS()
	}
	o.Durability = cmp.Or(o.Durability, Buffered)
	o.FlushMs = orDefault(o.FlushMs, defaultFlushMs)
	o.FlushBytes = orDefault(o.FlushBytes, defaultFlushBytes)
	o.FsyncMs = orDefault(o.FsyncMs, defaultFsyncMs)
	o.GroupMs = orDefault(o.GroupMs, defaultGroupMs)
	return o
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Journals is a directory of stream journals, safe for concurrent use.
type Journals struct {
	opt Options

	mu   sync.Mutex
	open map[chat.StepID]struct{} // journals that a Writer of this process has open
}

// New returns the journals of a directory. It does not access the disk: Begin creates the directory.
func New(opt Options) *Journals {
	return &Journals{opt: opt.withDefaults(), open: map[chat.StepID]struct{}{}}
}

// Configure changes the durability settings for journals begun from now on. Directory, file system and clock stay.
func (j *Journals) Configure(opt Options) {
	j.mu.Lock()
	defer j.mu.Unlock()
	opt.Dir, opt.FS, opt.Clock = j.opt.Dir, j.opt.FS, j.opt.Clock
	j.opt = opt.withDefaults()
}

func (j *Journals) options() Options {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.opt
}

// Path is the path of a step's journal, relative to the data directory.
func (j *Journals) Path(step chat.StepID) string {
	return "streams/" + string(step) + extension
}

// Begin creates the journal of a step and makes its directory entry durable. A
// step has one journal: a second Begin is CodeConflict.
func (j *Journals) Begin(step chat.StepID, provider string) (*Writer, error) {
	const op = "journal.begin"
	path, err := j.file(op, step)
	if err != nil {
		return nil, err
	}
	if provider == "" || provider == ownProvider {
		return nil, chat.Errorf(chat.CodeInvalid, op, "a journal needs the name of its provider")
	}
	opt := j.options()
	if opt.Durability != Buffered && opt.Durability != WriteAhead {
		return nil, chat.Errorf(chat.CodeConfig, op, "stream.durability is %q; it can be buffered or write_ahead", opt.Durability)
	}
	f, err := j.create(opt, path)
	if err != nil {
		return nil, createError(op, step, err)
	}
	j.mu.Lock()
	j.open[step] = struct{}{}
	j.mu.Unlock()
	return newWriter(j, opt, step, provider, f), nil
}

// create creates the file, or leaves nothing behind.
func (j *Journals) create(opt Options, path string) (File, error) {
	if err := opt.FS.MkdirAll(opt.Dir); err != nil {
		return nil, err
	}
	f, err := opt.FS.Create(path)
	if err != nil {
		return nil, err
	}
	if err := opt.FS.SyncDir(opt.Dir); err != nil {
		return nil, errors.Join(err, f.Close(), opt.FS.Remove(path))
	}
	return f, nil
}

// List returns the steps that have a journal, oldest first. Other files in the directory are ignored.
func (j *Journals) List() ([]chat.StepID, error) {
	names, err := j.options().FS.ReadDir(j.options().Dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, chat.WrapError(chat.CodeInternal, "journal.list", err, "The folder of stream journals cannot be read.")
	}
	var steps []chat.StepID
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, extension); ok && chat.ValidID(id) {
			steps = append(steps, chat.StepID(id))
		}
	}
	return steps, nil
}

// Prune removes a journal, durably. It must be called only after TX-A is durable (SPEC 5). A missing journal is not an
// error; a journal that is being written is CodeConflict.
func (j *Journals) Prune(step chat.StepID) error {
	const op = "journal.prune"
	path, err := j.file(op, step)
	if err != nil {
		return err
	}
	j.mu.Lock()
	_, busy := j.open[step]
	j.mu.Unlock()
	if busy {
		return chat.Errorf(chat.CodeConflict, op, "the journal of step %s is still being written", step)
	}
	if err := j.options().FS.Remove(path); err != nil {
		if missing(err) {
			return nil
		}
		return chat.WrapError(chat.CodeInternal, op, err, "A finished stream journal could not be removed; nothing is lost.")
	}
	if err := j.options().FS.SyncDir(j.options().Dir); err != nil {
		return chat.WrapError(chat.CodeInternal, op, err, "The removal of a finished stream journal has not been flushed to disk yet; nothing is lost.")
	}
	return nil
}

// file is the path of a step's journal. Only a valid identifier is accepted, so that the path stays in the directory.
func (j *Journals) file(op string, step chat.StepID) (string, error) {
	if !chat.ValidID(string(step)) {
		return "", chat.Errorf(chat.CodeInvalid, op, "%q does not name a step", string(step))
	}
	return filepath.Join(j.options().Dir, string(step)+extension), nil
}

func (j *Journals) release(step chat.StepID) {
	j.mu.Lock()
	delete(j.open, step)
	j.mu.Unlock()
}

func createError(op string, step chat.StepID, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return chat.WrapError(chat.CodeConflict, op, err, "Step %s already has a stream journal; it was not changed.", step)
	}
	return diskError(op, err, "The stream journal could not be created; nothing was sent.")
}

func readError(op string, step chat.StepID, err error) error {
	return chat.WrapError(chat.CodeInternal, op, err,
		"The stream journal of step %s cannot be read to its end; the file was not changed.", step).
		WithHint("check the disk and the permissions of the data directory")
}

// diskError distinguishes a full disk from other failures.
func diskError(op string, err error, message string) *chat.Error {
	if faultfs.Full(err) {
		return chat.WrapError(chat.CodeNoSpace, op, err, "The disk is full. %s", message).
			WithHint("free some space, then try again")
	}
	return chat.WrapError(chat.CodeInternal, op, err, "%s", message).
		WithHint("check the disk that holds the data directory")
}
