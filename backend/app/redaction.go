package app

import (
	"sync"

	"contextinfinity/backend/config"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/redact"
)

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

// text redacts a text, without the list of replacements.
func (o *outbound) text(s string) string {
	clean, _ := o.redact(s)
	return clean
}

func (o *outbound) rules() string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.rulesID
}
