package transfer

import (
	"encoding/json"
	"io"
	"path"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/pattern"
)

// grokConversation is an entry of the conversations of Grok's account export
// (prod-grok-backend.json).
type grokConversation struct {
	Conversation struct {
		ID       str             `json:"id"`
		Title    str             `json:"title"`
		Created  json.RawMessage `json:"create_time"`
		Modified json.RawMessage `json:"modify_time"`
		Starred  truth           `json:"starred"`
	} `json:"conversation"`
	Responses list `json:"responses"`
}

type grokResponse struct {
	ID       str             `json:"_id"`
	Message  json.RawMessage `json:"message"`
	Sender   str             `json:"sender"`
	Created  json.RawMessage `json:"create_time"`
	Parent   *str            `json:"parent_response_id"`
	Model    str             `json:"model"`
	Thinking str             `json:"thinking_trace"`
	Files    list            `json:"file_attachments"`
	Partial  truth           `json:"partial"`
}

// grok parses a conversation of Grok: a list, or a tree if responses name a parent.
func grok(raw json.RawMessage) *draft {
	d := newDraft(SourceGrok)
	var c grokConversation
	if json.Unmarshal(raw, &c) != nil || c.Responses == nil {
		d.skip = "Not a Grok conversation: it has no list of messages."
		return d
	}
	info := c.Conversation
	d.ID, d.Title, d.Pinned, d.Provider = string(info.ID), string(info.Title), bool(info.Starred), "xai"
	d.CreatedAt, d.UpdatedAt = d.date(grokMoment(info.Created)), d.date(grokMoment(info.Modified))
	ids := false
	for _, raw := range c.Responses {
		var entry struct {
			Response json.RawMessage `json:"response"`
		}
		var m grokResponse
		if json.Unmarshal(raw, &entry) != nil || isNull(entry.Response) || json.Unmarshal(entry.Response, &m) != nil || m.Sender == "" {
			d.follow(d.hidden(raw))
			continue
		}
		ids = ids || m.ID != ""
		d.place(grokNode(d, m), m.Parent, "")
	}
	d.line = !ids
	return d
}

// Grok writes cards and artifacts as elements into its texts.
var (
	grokCard     = pattern.New(`(?s)<(grok:render|xai:tool_usage_card)\b.*?</(grok:render|xai:tool_usage_card)>`)
	grokArtifact = pattern.New(`(?s)<xaiArtifact\b([^>]*)>(.*?)</xaiArtifact>`)
)

// grokText returns a text without cards, and with artifacts as documents.
func grokText(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	text = grokCard().ReplaceAllString(text, "")
	return grokArtifact().ReplaceAllStringFunc(text, func(element string) string {
		m := grokArtifact().FindStringSubmatch(element)
		values := attributes(m[1])
		body := strings.TrimSpace(m[2])
		language := strings.TrimPrefix(values["contentType"], "text/")
		if language != "markdown" && language != "plain" && !strings.HasPrefix(body, "```") {
			body = "```" + path.Base(language) + "\n" + body + "\n```"
		}
		if title := values["title"]; title != "" {
			body = "## " + title + "\n\n" + body
		}
		return body
	})
}

func grokNode(d *draft, m grokResponse) node {
	n := node{key: string(m.ID), at: grokMoment(m.Created), kind: kindAssistant, provider: "xai", model: string(m.Model), incomplete: bool(m.Partial)}
	if strings.EqualFold(string(m.Sender), "human") {
		n.kind = kindUser
	}
	if m.Thinking != "" {
		n.blocks = append(n.blocks, chat.Reasoning{Provider: string(d.Source), Summary: string(m.Thinking)})
	}
	n.blocks = append(n.blocks, parts(d.Source, m.Message)...)
	n.blocks = append(n.blocks, d.unknowns(m.Files)...)
	if n.kind == kindAssistant {
		n.clean(grokText, nil)
	}
	return n
}

// grokMoment is a date as text, or as stored in the database: {"$date":{"$numberLong":"…"}}.
func grokMoment(raw json.RawMessage) moment {
	var stored struct {
		Date json.RawMessage `json:"$date"`
	}
	var long struct {
		Number str `json:"$numberLong"`
	}
	if json.Unmarshal(raw, &stored) != nil || isNull(stored.Date) {
		return readMoment(raw)
	}
	if json.Unmarshal(stored.Date, &long) == nil && long.Number != "" {
		return readMoment(json.RawMessage(long.Number))
	}
	return readMoment(stored.Date)
}

// grokFile reads the conversations of every account export in a file: objects with a list as a member.
func (r *run) grokFile(_ Input, from io.Reader) error {
	s := newScanner(from, MaxEntryBytes)
	found, at := false, 0
	err := r.objects(s, func(key string) (bool, error) {
		if first, err := s.peek(); key != "conversations" || first != '[' {
			return false, err
		}
		found = true
		return true, s.list(func(_ int, e element) error {
			at++
			return r.element(at-1, e, entry(one(grok)))
		})
	})
	if !found && err == nil && !r.report.Truncated {
		r.skip(SkippedRow{Reason: "It has no list of conversations."})
	}
	return err
}
