package sqlite

import (
	"io"
	"math"
	"os"
	"strings"

	"contextinfinity/backend/internal/seal"
)

// A sealed file of SQLite is a header and units. A unit of a database is a page, of a log the header or the page of a
// frame, and of any other file (rollback journals, temporary databases) a block. A log has no header of its own: its keys
// are derived from its database's. It begins with SQLite's own header of the log in clear, which tells nothing about
// pages. The header of a frame is sealed, because it contains a checksum of the page.

// Kinds of units, and purposes of keys.
const (
	sealedDB    = 'd'
	sealedLog   = 'w'
	sealedOther = 'o'
)

var sealedPurpose = map[byte]string{sealedDB: "database", sealedLog: "log", sealedOther: "other"}

// otherBlock is the unit of files that have no pages.
const otherBlock = 4096

// SQLite locks bytes at 1 GB of a database. On Windows nobody else can read or write them meanwhile, so no unit may
// contain them.
const (
	lockBytesAt = 0x40000000
	lockGap     = 1 << 16
)

// layout is where the units of a sealed file are.
type layout struct {
	kind byte
	unit int64 // bytes of content of a unit; of a log, of a page
	seal *seal.Sealer
}

func layoutOf(h seal.Header, k seal.Key, kind byte) layout {
	return layout{kind, int64(h.Unit), h.Sealer(k, sealedPurpose[kind])}
}

// part is a unit that contains some offset.
type part struct {
	at    int64 // where it begins in the file
	size  int64 // of its content
	in    int64 // the offset within its content
	n     uint64
	clear bool // not sealed: the header of a log
}

// frame is the size of a frame of the log, as SQLite sees it and as it is stored.
func (l layout) frame() (seen, stored int64) {
	return FrameHeader + l.unit, FrameHeader + l.unit + 2*seal.Overhead
}

// locate finds the unit of an offset that SQLite sees.
func (l layout) locate(off int64) part {
	if l.kind != sealedLog {
		n := off / l.unit
		return part{at: l.place(n), size: l.unit, in: off % l.unit, n: uint64(n)} // off is not negative
	}
	if off < LogHeader {
		return part{size: LogHeader, in: off, clear: true}
	}
	seen, stored := l.frame()
	n, in := (off-LogHeader)/seen, (off-LogHeader)%seen
	p := part{at: LogHeader + n*stored, size: FrameHeader, in: in, n: uint64(2 * n)}
	if in >= FrameHeader {
		p.at, p.size, p.in, p.n = p.at+FrameHeader+seal.Overhead, l.unit, in-FrameHeader, p.n+1
	}
	return p
}

// place is where a unit of a database, or of another file, begins.
func (l layout) place(n int64) int64 {
	at := seal.HeaderSize + n*(l.unit+seal.Overhead)
	if l.kind == sealedDB && at+l.unit+seal.Overhead > lockBytesAt {
		at += lockGap
	}
	return at
}

// seen is the size that SQLite sees of a file with a stored size.
func (l layout) seen(stored int64) int64 {
	switch {
	case l.kind == sealedLog:
		if stored <= LogHeader {
			return stored
		}
		seen, size := l.frame()
		n, rest := (stored-LogHeader)/size, (stored-LogHeader)%size
		return LogHeader + n*seen + min(rest, seen-1) // an incomplete frame stays one
	case stored <= seal.HeaderSize:
		return 0
	case l.kind == sealedDB && stored > lockBytesAt:
		stored -= lockGap
	}
	n, rest := (stored-seal.HeaderSize)/(l.unit+seal.Overhead), (stored-seal.HeaderSize)%(l.unit+seal.Overhead)
	return n*l.unit + max(0, rest-seal.Overhead)
}

// stored is the size of a file of which SQLite sees a size. A size within a unit is stored with all of that unit: what
// SQLite cut off within it is not read again.
func (l layout) stored(seen int64) int64 {
	switch {
	case seen == 0:
		return 0
	case l.kind == sealedLog && seen <= LogHeader:
		return seen
	}
	p := l.locate(seen - 1)
	return p.at + p.size + seal.Overhead
}

// stream is how units are read and written: by the system's VFS, or as a file.
type stream interface {
	// read returns a code of SQLite: SQLITE_IOERR_SHORT_READ at the end of the file.
	read(b []byte, off int64) int32
	write(b []byte, off int64) int32
	// buffer returns memory that may be handed to SQLite.
	buffer(n int64) []byte
}

const (
	codeOK        = 0
	codeCorrupt   = ResultCorrupt
	codeShortRead = ResultIOErr | 2<<8
	codeRead      = ResultIOErr | 1<<8
)

// read reads what SQLite sees.
func (l layout) read(s stream, out []byte, off int64) int32 {
	for len(out) > 0 {
		p := l.locate(off)
		n := min(p.size-p.in, int64(len(out)))
		rc := l.readPart(s, p, out[:n])
		if rc != codeOK {
			if rc == codeShortRead {
				clear(out)
			}
			return rc
		}
		out, off = out[n:], off+n
	}
	return codeOK
}

func (l layout) readPart(s stream, p part, out []byte) int32 {
	if p.clear {
		b := s.buffer(int64(len(out)))
		rc := s.read(b, p.at+p.in)
		copy(out, b)
		return rc
	}
	content := out
	if int64(len(out)) != p.size {
		content = make([]byte, p.size)
	}
	b := s.buffer(p.size + seal.Overhead)
	if rc := s.read(b, p.at); rc != codeOK {
		return rc
	}
	if !l.seal.Open(content, b, l.kind, p.n) && l.kind != sealedLog {
		return codeCorrupt
	}
	// In a log, Open has left zeros: SQLite's own checksum ends the recovery there.
	if int64(len(out)) != p.size {
		copy(out, content[p.in:])
	}
	return codeOK
}

// write writes what SQLite sees. A part of a unit is written with the rest of it.
func (l layout) write(s stream, data []byte, off int64) int32 {
	for len(data) > 0 {
		p := l.locate(off)
		n := min(p.size-p.in, int64(len(data)))
		if rc := l.writePart(s, p, data[:n]); rc != codeOK {
			return rc
		}
		data, off = data[n:], off+n
	}
	return codeOK
}

func (l layout) writePart(s stream, p part, data []byte) int32 {
	if p.clear {
		b := s.buffer(int64(len(data)))
		copy(b, data)
		return s.write(b, p.at+p.in)
	}
	if int64(len(data)) != p.size {
		all := make([]byte, p.size)
		whole := p
		whole.in = 0
		if rc := l.readPart(s, whole, all); rc != codeOK && rc != codeShortRead {
			return rc
		}
		copy(all[p.in:], data)
		data = all
	}
	b := s.buffer(p.size + seal.Overhead)
	l.seal.Seal(b, data, l.kind, p.n)
	return s.write(b, p.at)
}

// fileStream reads units of a file.
type fileStream struct{ io.ReaderAt }

func (s fileStream) read(b []byte, off int64) int32 {
	n, err := s.ReadAt(b, off)
	switch {
	case n == len(b):
		return codeOK
	case err == io.EOF:
		return codeShortRead
	}
	return codeRead
}

func (fileStream) write([]byte, int64) int32   { return codeRead }
func (fileStream) buffer(n int64) []byte       { return make([]byte, n) }
func databaseOf(file, suffix string) string    { return strings.TrimSuffix(file, suffix) }
func (l *sealedLogFile) Close() error          { return l.file.Close() }
func (l *sealedLogFile) sequential() io.Reader { return io.NewSectionReader(l, 0, math.MaxInt64) }

// logFile is a write-ahead log as SQLite sees it.
type logFile interface {
	io.ReaderAt
	io.Closer
	sequential() io.Reader
}

type plainLogFile struct{ *os.File }

func (l plainLogFile) sequential() io.Reader { return l.File }

type sealedLogFile struct {
	file *os.File
	layout
}

// ReadAt implements io.ReaderAt.
func (l *sealedLogFile) ReadAt(p []byte, off int64) (done int, err error) {
	for done < len(p) {
		at := l.locate(off + int64(done))
		n := min(int(at.size-at.in), len(p)-done)
		if at.clear {
			n, err := l.file.ReadAt(p[done:done+n], at.at+at.in)
			if done += n; err != nil {
				return done, err
			}
			continue
		}
		switch l.readPart(fileStream{l.file}, at, p[done:done+n]) {
		case codeOK:
			done += n
		case codeShortRead:
			return done, io.EOF
		default:
			return done, io.ErrUnexpectedEOF
		}
	}
	return done, nil
}

// openLog opens the log of a database.
func openLog(path string) (logFile, error) {
	f, err := os.Open(path) // the database's own log
	if err != nil || !seal.Known() {
		return plainLogFile{f}, err
	}
	h, k, err := headerAt(databaseOf(path, "-wal"))
	switch {
	case err == nil:
		return &sealedLogFile{f, layoutOf(h, k, sealedLog)}, nil
	case isPlain(err):
		return plainLogFile{f}, nil
	}
	_ = f.Close()
	return nil, HeaderError(databaseOf(path, "-wal"), err)
}
