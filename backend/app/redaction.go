package app

import (
	"sync"

	"contextinfinity/backend/config"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/redact"
)

// redactText redacts a text, without the list of replacements.
func (s setup) redactText(text string) string {
	clean, _ := s.outbound.redact(text)
	return clean
}

func (a *app) redact(s string) (string, []prompt.Redaction) { return a.outbound.redact(s) }

// outbound removes secrets from outgoing texts by the current rules.
type outbound struct {
	mu      sync.RWMutex
	current *redact.Redactor
	rulesID string
}

func (o *outbound) configure(c config.Redaction) {
	r, err := redact.New(c.Outbound, c.Patterns)
	if err != nil { // the configuration has been checked; if a pattern is invalid nevertheless, the current rules stay
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = r
	o.rulesID = r.Rules()
}

func (o *outbound) redact(s string) (string, []prompt.Redaction) {
	o.mu.RLock()
	r := o.current
	o.mu.RUnlock()
	if r == nil {
		return s, nil
	}
	return r.Redact(s)
}

func (o *outbound) rules() string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.rulesID
}
