package transfer

import (
	"errors"
	"io"
)

// documents reads a file of consecutive objects. It calls member with the name of each member while the value is next
// in the stream; member either reads the value and returns true, or leaves it.
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
			s.stray()
		}
	}
}

// object reads the next object to its end. A truncated one is io.ErrUnexpectedEOF.
func (s *scanner) object(member func(key string) (bool, error)) error {
	if _, err := s.byte(); err != nil {
		return cut(err)
	}
	for {
		b, err := s.byte()
		if err != nil {
			return cut(err)
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
			s.stray()
		}
	}
}

func (s *scanner) member(take func(key string) (bool, error)) error {
	name, err := s.value()
	if err != nil {
		return cut(err)
	}
	key, end := textAt(name.raw, 0)
	if name.torn {
		return io.ErrUnexpectedEOF
	}
	if colon, err := s.peek(); err != nil || colon != ':' || end < 0 {
		s.stray()
		return cut(err)
	}
	_, _ = s.byte()
	if first, err := s.peek(); err != nil || first == ',' || first == '}' || first == ']' {
		s.stray()
		return cut(err)
	}
	if taken, err := take(key); taken || err != nil {
		return err
	}
	return s.pass()
}

// list reads the next list, and calls each for its entries. Any other value is skipped.
func (s *scanner) list(each func(i int, e element) error) error {
	if first, err := s.peek(); err != nil || first != '[' {
		return errors.Join(err, s.pass())
	}
	in := &scanner{r: s.r, at: s.at, max: s.max, alone: true}
	defer func() { s.at, s.strange = in.at, s.strange+in.strange }()
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

// pass skips the next value without holding it.
func (s *scanner) pass() error {
	most := s.max
	s.max = 0
	e, err := s.value()
	s.max = most
	if err == nil && e.torn {
		err = io.ErrUnexpectedEOF
	}
	return cut(err)
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

func (s *scanner) stray() {
	if s.strange++; s.strange == 1 {
		s.strangeAt = s.at - 1
	}
}

// cut is the end of file inside a value.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// objects reads a file of objects, and reports how it ended. Errors of member that do not come from the file are
// returned unchanged.
func (r *run) objects(s *scanner, member func(key string) (bool, error)) error {
	var own error // of member, not of the file
	err := s.documents(func(key string) (bool, error) {
		taken, err := member(key)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			own = err
		}
		return taken, err
	})
	if own != nil {
		return own
	}
	r.strange(0, s)
	return r.ended(err, s.at)
}
