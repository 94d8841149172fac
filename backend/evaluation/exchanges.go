package evaluation

import (
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
)

// exchanges pairs a conversation's messages into turns, as an import does: a user message with an assistant's answer
// or, between people, two consecutive messages, each with its speaker's name. A turn never spans two sessions. A
// message without a partner is a turn of its own; one without text is left out.
func exchanges(said []line) []Exchange {
	said = slices.DeleteFunc(slices.Clone(said), func(l line) bool { return strings.TrimSpace(string(l.Text)) == "" })
	named := slices.ContainsFunc(said, func(l line) bool { return roleOf(l.Speaker) == "" })
	var out []Exchange
	for i := 0; i < len(said); i++ {
		x := Exchange{At: moment(said, i, out), User: message(said[i], chat.RoleUser, named)}
		if i+1 < len(said) && pair(said[i], said[i+1], named) {
			answer := message(said[i+1], chat.RoleAssistant, named)
			x.Answer = &answer
			i++
		}
		out = append(out, x)
	}
	return out
}

// pair reports that two messages form one turn.
func pair(a, b line, named bool) bool {
	if a.Session != b.Session || a.Date != b.Date {
		return false
	}
	return named || roleOf(a.Speaker) == chat.RoleUser && roleOf(b.Speaker) == chat.RoleAssistant
}

// message assigns a message to its role in a turn. A speaker with another role keeps their name.
func message(l line, place chat.Role, named bool) chat.Message {
	m := chat.Message{Role: place, Blocks: chat.Blocks{chat.Text{Text: string(l.Text)}}}
	if named || roleOf(l.Speaker) != place {
		m.Name = string(l.Speaker)
	}
	return m
}

// roleOf is the role for a speaker's label, empty for a person's name.
func roleOf(speaker text) chat.Role {
	switch strings.ToLower(strings.TrimSpace(string(speaker))) {
	case "user", "human":
		return chat.RoleUser
	case "assistant", "ai", "bot", "model":
		return chat.RoleAssistant
	}
	return ""
}

// moment is when a turn began: its date, and within one date in order, one minute apart. Without a date it follows
// the previous turn.
func moment(said []line, i int, before []Exchange) time.Time {
	at, known := dates.Parse(string(said[i].Date))
	if len(before) == 0 {
		return at
	}
	last := before[len(before)-1].At
	if !known || i > 0 && said[i-1].Date == said[i].Date && said[i-1].Session == said[i].Session {
		if last.IsZero() {
			return last
		}
		return last.Add(time.Minute)
	}
	return at
}
