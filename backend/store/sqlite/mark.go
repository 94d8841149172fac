package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"contextinfinity/backend/internal/faultfs"

	"gorm.io/gorm"
)

// ConfirmedFile records up to where SQLite's write-ahead log contained confirmed commits. SQLite reads a log up to
// the first frame with a bad checksum and silently drops the rest: without this file a damaged log looks like one
// that ended there.
const ConfirmedFile = "confirmed.mark"

// logPosition is a position in a write-ahead log. The zero value means no log.
type logPosition struct {
	Salt  [2]uint32 // of the log: it changes each time the log is restarted
	Frame uint32    // counted from 1
	Sum   [2]uint32 // the checksum of the log up to and including that frame
}

func (p logPosition) String() string {
	text := fmt.Sprintf("%08x%08x %08x %08x%08x", p.Salt[0], p.Salt[1], p.Frame, p.Sum[0], p.Sum[1])
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// ReadConfirmed reads the mark of a data directory. A missing mark, or one truncated before its first complete write,
// is the zero position.
func ReadConfirmed(dir string) (p logPosition, err error) { //nolint:revive // callers only compare it
	text, err := os.ReadFile(filepath.Join(dir, ConfirmedFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	var sum uint32
	_, err = fmt.Sscanf(string(text), "%08x%08x %08x %08x%08x %08x\n", &p.Salt[0], &p.Salt[1], &p.Frame, &p.Sum[0], &p.Sum[1], &sum)
	if err != nil || p.String() != string(text) {
		return logPosition{}, errors.New("its checksum does not match")
	}
	return p, nil
}

// logMark maintains the mark of an open database. It is written after each commit without fsync: after a power
// failure it may be an older one, which only detects less.
type logMark struct {
	mu     sync.Mutex
	file   *faultfs.File // nil: there is no mark, or it was closed
	pool   *gorm.DB      // a separate connection, so that it never waits for a reader or writer
	log    string
	last   logPosition
	failed atomic.Bool // the failure was logged
}

func (m *logMark) begin(path, database string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind := notAFile(path); kind != "" {
		return fmt.Errorf("%s is %s", path, kind)
	}
	f, err := faultfs.OpenFile(faultfs.Data, path, os.O_RDWR|os.O_CREATE|faultfs.NoFollow, 0o600)
	if err != nil {
		return err
	}
	pool, err := Connect(database, append([]string{"query_only(1)", "cache_size(-64)"}, CommonPragmas...), 1)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	m.file, m.pool, m.log = f, pool, database+"-wal"
	return nil
}

func (m *logMark) move() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		return nil
	}
	pool, err := m.pool.DB()
	if err != nil {
		return err
	}
	end, err := endOfLog(pool, m.log)
	if err != nil || end == m.last {
		return err
	}
	if _, err := m.file.WriteAt([]byte(end.String()), 0); err != nil {
		return err
	}
	m.last = end
	return nil
}

// endOfLog returns the end of the newest commit.
func endOfLog(pool *sql.DB, path string) (p logPosition, err error) {
	var busy, frames, done int64
	if err := pool.QueryRowContext(context.Background(), `PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &frames, &done); err != nil || frames <= 0 {
		return p, err
	}
	f, err := openLog(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = f.Close() }()
	var head [LogHeader]byte
	var frame [FrameHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return p, err
	}
	size := int64(binary.BigEndian.Uint32(head[8:]))
	if _, err := f.ReadAt(frame[:], LogHeader+(frames-1)*(FrameHeader+size)); err != nil {
		return p, err
	}
	p.Frame = uint32(frames) // SQLite counts frames in 32 bits
	p.Salt, p.Sum = pair(frame[8:]), pair(frame[16:])
	if p.Salt != pair(head[16:]) {
		return logPosition{}, nil // the log was restarted just now
	}
	return p, nil
}

func (m *logMark) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := Disconnect(m.pool)
	m.pool = nil
	if m.file != nil {
		err = errors.Join(err, m.file.Close())
		m.file = nil
	}
	return err
}

// Sizes of the parts of a write-ahead log, in bytes. https://www.sqlite.org/fileformat2.html#walformat
const (
	LogHeader   = 32
	FrameHeader = 24
)

func pair(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// logSum is the checksum of a write-ahead log up to some position.
type logSum struct {
	sum       [2]uint32
	bigEndian bool // its words are big-endian
}

func (s *logSum) add(b []byte) {
	x, y := s.sum[0], s.sum[1]
	for ; len(b) >= 8; b = b[8:] {
		if s.bigEndian {
			x += binary.BigEndian.Uint32(b) + y
			y += binary.BigEndian.Uint32(b[4:]) + x
		} else {
			x += binary.LittleEndian.Uint32(b) + y
			y += binary.LittleEndian.Uint32(b[4:]) + x
		}
	}
	s.sum = [2]uint32{x, y}
}

// DamageTo says how a log is damaged up to a position, as a sentence; empty: it is not, or it is not the log of the
// position.
func DamageTo(log io.Reader, confirmed logPosition) (string, error) {
	lost := fmt.Sprintf("Changes were confirmed up to frame %d; those after the damage cannot be read.", confirmed.Frame)
	var head [LogHeader]byte
	switch n, err := io.ReadFull(log, head[:]); {
	case n == 0 && errors.Is(err, io.EOF): // deleted, or emptied after a checkpoint
		return "", nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "It is cut off in its header. " + lost, nil
	case err != nil:
		return "", err
	}
	s := logSum{bigEndian: head[3]&1 != 0}
	s.add(head[:24])
	size := binary.BigEndian.Uint32(head[8:])
	headerValid := s.sum == pair(head[24:]) && size >= 512 && size <= 65536
	if headerValid && pair(head[16:]) != confirmed.Salt {
		return "", nil
	}
	var frame [FrameHeader]byte
	if !headerValid {
		if _, err := io.ReadFull(log, frame[:]); err != nil || pair(frame[8:]) != confirmed.Salt && pair(head[16:]) != confirmed.Salt {
			return "", nil // the power failed while it was restarted: its content is in the database
		}
		return "Its header is damaged. " + lost, nil
	}
	page := make([]byte, size)
	for n := uint32(1); n <= confirmed.Frame; n++ {
		_, err := io.ReadFull(log, frame[:])
		if err == nil {
			_, err = io.ReadFull(log, page)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Sprintf("It is cut off in frame %d. ", n) + lost, nil
		}
		if err != nil {
			return "", err
		}
		s.add(frame[:8])
		s.add(page)
		if s.sum != pair(frame[16:]) || pair(frame[8:]) != confirmed.Salt {
			return fmt.Sprintf("Frame %d is damaged. ", n) + lost, nil
		}
	}
	if s.sum != confirmed.Sum {
		return "It is not the log that was confirmed. " + lost, nil
	}
	return "", nil
}
