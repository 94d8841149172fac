package mcpclient

import (
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/tools"
)

// Status is the current state of a server.
type Status struct {
	Config       config.MCPServer
	State        State
	StateText    chat.Phrase // the state as a sentence
	LastError    chat.Phrase // zero once it is ready
	RetryAt      time.Time
	StartedAt    time.Time
	Title        string // Title to Instructions: how the server describes itself
	Version      string
	Protocol     string
	Instructions string
	Tools        int
	Prompts      int // counted at its start
	Resources    int // like Prompts; including templates
	Problems     []tools.Problem
}

// maxInstructions limits a server's description of itself, in bytes.
const maxInstructions = 8 << 10

func (s *server) status() Status {
	s.mu.Lock()
	st := Status{Config: s.cfg, State: s.state, LastError: s.lastError, StartedAt: s.started}
	if s.state == StateWaiting {
		st.RetryAt = s.retryAt
	}
	ss := s.session
	s.mu.Unlock()
	st.StateText = st.sentence()
	if ss == nil {
		return st
	}
	init := ss.conn.InitializeResult()
	st.Protocol, st.Instructions = display.Shorten(clean(init.ProtocolVersion), 40), display.Shorten(s.redact(text(init.Instructions)), maxInstructions)
	if i := init.ServerInfo; i != nil {
		st.Title, st.Version = display.Shorten(clean(s.redact(i.Title)), 200), display.Shorten(clean(s.redact(i.Version)), 100)
		if st.Title == "" {
			st.Title = display.Shorten(clean(s.redact(i.Name)), 200)
		}
	}
	st.Prompts, st.Resources = ss.counts()
	o := ss.offered()
	st.Tools, st.Problems = len(o.tools), o.problems
	return st
}

// sentence describes the state, without the last error.
func (st Status) sentence() chat.Phrase {
	switch st.State {
	case StateOff:
		return chat.Say("It is switched off.")
	case StateIdle:
		return chat.Say("It starts when it is first needed.")
	case StateStarting:
		return chat.Say("It is starting.")
	case StateReady:
		return chat.Say("It is ready.")
	case StateSignIn:
		return chat.Say("Its tools are offered after that.")
	case StateWaiting:
		return chat.Say("It will be restarted automatically.")
	}
	return chat.Say("It will not be restarted automatically: check its log, then restart it.")
}

// Full returns the last error, if there is one, and the state.
func (st Status) Full() chat.Phrase {
	if st.LastError.IsZero() {
		return st.StateText
	}
	return chat.Say("%s %s", st.LastError, st.StateText)
}
