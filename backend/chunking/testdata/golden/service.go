// Package service answers requests.
package service

import (
	"context"
	"errors"
)

// ErrClosed is what a closed service answers.
var ErrClosed = errors.New("closed")

// Service holds what requests share.
type Service struct {
	open  bool
	calls int
}

// Open makes a service ready.
func (s *Service) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open = true
	return nil
}

// Answer answers one request.
func (s *Service) Answer(ctx context.Context, question string) (string, error) {
	if !s.open {
		return "", ErrClosed
	}

	s.calls++
	switch question {
	case "how many":
		return "many", nil
	default:
		return "I do not know", nil
	}
}
