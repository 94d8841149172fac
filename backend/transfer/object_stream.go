package transfer

import (
	"errors"
	"io"
)

// documents reads a file of consecutive objects. It calls member with the name of each member while its value is next
// in the stream; member either reads the value and returns true, or returns false, and the value is skipped.
func (s *scanner) documents(member func(key string) (bool, error)) error {
	for {
		b, err := s.byte()
		if err != nil {
			return err
		}
		switch {
		case isSpace(b) || b == ',' || !s.began && isMark(s, b):
		case b == '{':
			s.began = true
			s.back()
			if err := s.object(member); err != nil {
				return err
			}
		default:
			s.countUnexpected()
		}
	}
}

// object reads the next object to its end. A truncated one is io.ErrUnexpectedEOF.
func (s *scanner) object(member func(key string) (bool, error)) error {
	if _, err := s.byte(); err != nil {
		return asUnexpectedEOF(err)
	}
	for {
		b, err := s.byte()
		if err != nil {
			return asUnexpectedEOF(err)
		}
		switch {
		case isSpace(b) || b == ',':
		case b == '}':
			return nil
		case b == '"':
			s.back()
			if err := s.member(member); err != nil {
				return err
			}
		default:
			s.countUnexpected()
		}
	}
}

func (s *scanner) member(take func(key string) (bool, error)) error {
	name, err := s.value()
	if err != nil {
		return asUnexpectedEOF(err)
	}
	key, end := textAt(name.raw, 0)
	if name.torn {
		return io.ErrUnexpectedEOF
	}
	if colon, err := s.peek(); err != nil || colon != ':' || end < 0 {
		s.countUnexpected()
		return asUnexpectedEOF(err)
	}
	_, _ = s.byte()
	if first, err := s.peek(); err != nil || first == ',' || first == '}' || first == ']' {
		s.countUnexpected()
		return asUnexpectedEOF(err)
	}
	if taken, err := take(key); taken || err != nil {
		return err
	}
	return s.skipValue()
}

// list reads the next list, and calls each for its entries. Any other value is skipped.
func (s *scanner) list(each func(i int, e element) error) error {
	if first, err := s.peek(); err != nil || first != '[' {
		return errors.Join(err, s.skipValue())
	}
	in := &scanner{r: s.r, at: s.at, max: s.max, nested: true}
	defer func() { s.at, s.unexpected = in.at, s.unexpected+in.unexpected }()
	for i := 0; ; i++ {
		e, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(i, e); err != nil {
			return err
		}
	}
}

// skipValue skips the next value without keeping it in memory.
func (s *scanner) skipValue() error {
	limit := s.max
	s.max = 0
	e, err := s.value()
	s.max = limit
	if err == nil && e.torn {
		err = io.ErrUnexpectedEOF
	}
	return asUnexpectedEOF(err)
}

// peek is the next byte that is not white space; it stays in the stream.
func (s *scanner) peek() (byte, error) {
	for {
		b, err := s.byte()
		if err != nil {
			return 0, err
		}
		if !isSpace(b) {
			s.back()
			return b, nil
		}
	}
}

func (s *scanner) countUnexpected() {
	if s.unexpected++; s.unexpected == 1 {
		s.unexpectedAt = s.at - 1
	}
}

// asUnexpectedEOF converts io.EOF, which occurred inside a value, to io.ErrUnexpectedEOF.
func asUnexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// objects reads a file of objects, and reports how it ended. Errors of member that do not come from the file are
// returned unchanged.
func (r *run) objects(s *scanner, member func(key string) (bool, error)) error {
	var memberErr error // of member, not of the file
	err := s.documents(func(key string) (bool, error) {
		taken, err := member(key)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			memberErr = err
		}
		return taken, err
	})
	if memberErr != nil {
		return memberErr
	}
	r.reportUnexpected(0, s)
	return r.ended(err, s.at)
}
