package app

import (
	"sync"

	"contextinfinity/backend/config"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/redact"
)

// redactText is redact without the list of replacements.
func (s setup) redactText(text string) string {
	clean, _ := s.outbound.redact(text)
	return clean
}

func (a *app) redact(s string) (string, []prompt.Redaction) { return a.outbound.redact(s) }

// outbound removes secrets from what is sent, by the current rules.
type outbound struct {
	mu  sync.RWMutex
	now *redact.Redactor
	id  string
}

func (o *outbound) configure(c config.Redaction) {
	r, err := redact.New(c.Outbound, c.Patterns)
	if err != nil { // the configuration was checked; if a pattern is still invalid, the current rules stay
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = r
	o.id = r.Rules()
}

func (o *outbound) redact(s string) (string, []prompt.Redaction) {
	o.mu.RLock()
	r := o.now
	o.mu.RUnlock()
	if r == nil {
		return s, nil
	}
	return r.Redact(s)
}

func (o *outbound) rules() string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.id
}
