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
func exchanges(messages []line) []Exchange {
	messages = slices.DeleteFunc(slices.Clone(messages), func(l line) bool { return strings.TrimSpace(string(l.Text)) == "" })
	named := slices.ContainsFunc(messages, func(l line) bool { return roleOf(l.Speaker) == "" })
	var out []Exchange
	for i := 0; i < len(messages); i++ {
		x := Exchange{At: moment(messages, i, out), User: message(messages[i], chat.RoleUser, named)}
		if i+1 < len(messages) && pair(messages[i], messages[i+1], named) {
			answer := message(messages[i+1], chat.RoleAssistant, named)
			x.Answer = &answer
			i++
		}
		out = append(out, x)
	}
	return out
}

// pair reports whether two messages form one turn.
func pair(a, b line, named bool) bool {
	if a.Session != b.Session || a.Date != b.Date {
		return false
	}
	return named || roleOf(a.Speaker) == chat.RoleUser && roleOf(b.Speaker) == chat.RoleAssistant
}

// message assigns a message to its role in a turn. A speaker with another role keeps their name.
func message(l line, role chat.Role, named bool) chat.Message {
	m := chat.Message{Role: role, Blocks: chat.Blocks{chat.Text{Text: string(l.Text)}}}
	if named || roleOf(l.Speaker) != role {
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

// moment returns when a turn began. Turns of the same date are one minute apart, and so are a turn without a date and
// the one before it.
func moment(messages []line, i int, before []Exchange) time.Time {
	at, known := dates.Parse(string(messages[i].Date))
	if len(before) == 0 {
		return at
	}
	last := before[len(before)-1].At
	if !known || i > 0 && messages[i-1].Date == messages[i].Date && messages[i-1].Session == messages[i].Session {
		if last.IsZero() {
			return last
		}
		return last.Add(time.Minute)
	}
	return at
}
