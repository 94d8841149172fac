package transfer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// kind is the role of a message in a turn.
type kind int

const (
	kindVoid      kind = iota // without content: a root, an empty system message
	kindHidden                // not shown by the source: kept raw, in its turn
	kindSystem                // instructions: the system prompt before any visible message, otherwise hidden
	kindUser                  // begins a turn
	kindAssistant             // continues a turn
	kindTool                  // continues a turn
)

// node is a message of the source. What concerns an answer (model, usage, how it ended) counts only for kindAssistant
// and kindTool.
type node struct {
	key, parent string // empty parent: a root, unless follows is set
	follows     bool   // its parent is the previous message
	kind        kind
	name        string // of the speaker
	blocks      chat.Blocks
	now         *form // how it is shown; nil: as it is
	provider    string
	model       string
	at          moment
	usage       *chat.Usage
	usageKey    string // messages with the same key share one usage
	incomplete  bool
	failed      bool
	failure     string
}

// form is how a message is shown, if that differs from how earlier versions imported it. The keys of turns are derived
// from the earlier form, so that a conversation that was imported by an earlier version is not imported again.
type form struct {
	kind   kind
	blocks chat.Blocks
	kept   chat.Blocks // what the blocks leave out, raw; it is not shown
}

// draft is a parsed conversation before its turns are built.
type draft struct {
	Conversation
	nodes    []node
	leaf     string // key of the node that was open last; empty: the last node
	skip     string // why it cannot be converted
	agent    string // what a session of an agent is called in lists; empty: a person's session
	fork     string // ID of the conversation whose beginning it repeats
	forks    *Forks
	attach   func(*draft) // shows the files of the export; nil: none
	known    *bool        // it was imported already; nil: not asked yet
	line     bool         // its messages have no ids: each follows the previous one
	orphans  bool         // a message whose parent does not exist continues after the previous one
	repaired repaired
}

func newDraft(source Source) *draft { return &draft{Conversation: Conversation{Source: source}} }

// add appends a message, with a generated key if it has none.
func (d *draft) add(n node) string {
	if n.key == "" {
		n.key = "n" + strconv.Itoa(len(d.nodes)+1)
	}
	d.nodes = append(d.nodes, n)
	return n.key
}

// follow appends a message as child of the previous one.
func (d *draft) follow(n node) string {
	n.follows = true
	return d.add(n)
}

// last is the last message, nil if there is none.
func (d *draft) last() *node {
	if len(d.nodes) == 0 {
		return nil
	}
	return &d.nodes[len(d.nodes)-1]
}

func (d *draft) notice(text string, n int) { d.Notices = addNotice(d.Notices, text, n) }

// unknown stores raw as an Unknown block of the conversation's source.
func (d *draft) unknown(raw json.RawMessage) chat.Block { return unknownBlock(d.Source, raw) }

func unknownBlock(source Source, raw json.RawMessage) chat.Block {
	return chat.Unknown{Provider: string(source), Raw: append([]byte(nil), raw...)}
}

// unknowns stores each value as an Unknown block.
func (d *draft) unknowns(raws list) chat.Blocks { return lists.Map(raws, d.unknown) }

// attached is an attachment: a document, if its text is in the export.
func (d *draft) attached(name, media, text str, raw json.RawMessage) chat.Block {
	if text == "" {
		return d.unknown(raw)
	}
	return document(string(name), string(media), string(text))
}

// hidden is a message that is not shown, kept raw.
func (d *draft) hidden(raw json.RawMessage) node {
	return node{kind: kindHidden, blocks: chat.Blocks{d.unknown(raw)}}
}

// speak sets the kind of a message by its speaker's role; a message with an unknown role is hidden.
func (d *draft) speak(n *node, role str, raw json.RawMessage) {
	if n.kind = kindOf(role); n.kind == kindHidden {
		n.blocks = d.hidden(raw).blocks
	}
}

// kindOf is the kind of the messages of a role, by the names that programs give it; kindHidden for any other.
func kindOf(role str) kind {
	switch strings.ToLower(strings.TrimSpace(string(role))) {
	case "user", "human":
		return kindUser
	case "assistant", "ai", "bot", "model":
		return kindAssistant
	case "system", "developer":
		return kindSystem
	case "tool", "function":
		return kindTool
	}
	return kindHidden
}

// build creates the conversation: its tree, its turns, its keys.
func (d *draft) build() (Conversation, string) {
	switch {
	case d.skip != "":
		return d.Conversation, d.skip
	case len(d.nodes) > MaxMessages:
		return d.Conversation, chat.Say("It has more than %d messages.", MaxMessages).Packed()
	}
	t := newTree(d)
	notices, prompt := slices.Clone(d.Notices), d.SystemPrompt
	if !t.assemble() {
		return d.Conversation, reasonRepeats
	}
	d.fillID()
	if d.setKeys() != nil {
		return d.Conversation, reasonUnstorable
	}
	former, formerNotices := d.Turns, d.Notices
	d.Notices = notices
	if d.attach != nil {
		d.attach(d)
	}
	d.show()
	if !t.reshape() {
		for _, n := range d.Notices[len(notices):] { // of files that are missing
			formerNotices = addNotice(formerNotices, n.Text, n.Count)
		}
		d.Notices = formerNotices
	} else {
		d.Turns, d.SystemPrompt = nil, prompt
		if !t.assemble() {
			return d.Conversation, reasonRepeats
		}
		if d.keepKeys(former) != nil {
			return d.Conversation, reasonUnstorable
		}
	}
	if len(d.Turns) == 0 {
		return d.Conversation, reasonEmpty
	}
	if d.forks.dropCopies(d); len(d.Turns) == 0 {
		return d.Conversation, reasonCopy
	}
	d.Notices = d.repaired.notices(d.Notices)
	for i := range d.nodes {
		d.Unread.Add(d.nodes[i].at.unread)
	}
	d.fillMissing()
	return d.Conversation, ""
}

// keepKeys gives the turns the keys of the earlier turns that ended with the same message. A turn without one has a key
// of its own.
func (d *draft) keepKeys(former []Turn) error {
	key, content := d.Key, d.content
	d.fillID()
	if err := d.setKeys(); err != nil || len(former) == 0 {
		return err
	}
	d.Key, d.content = key, content
	before := make(map[string]string, len(former))
	for _, t := range former {
		before[t.Key] = t.ContentKey
	}
	for i := range d.Turns {
		t := &d.Turns[i]
		t.ContentKey = cmp.Or(before[t.Key], t.ContentKey)
	}
	return nil
}

// Reasons for conversations without messages, which programs create and export too.
const (
	reasonEmpty      = "It has no messages."
	reasonUnstorable = "It contains something that cannot be stored."
	reasonCopy       = "It only repeats another session."
	noticeCopy       = "A session only repeats the beginning of another one, which was imported; it was left out."
	noticeNothing    = "A conversation has no messages: there is nothing in it to import."
)

var reasonRepeats = "Its branches repeat more than " + strconv.Itoa(MaxTurnNodes) + " messages."

// empty reports whether nothing is lost by skipping a conversation without turns: it contains no message that could
// not be parsed. A session of Claude Code that was opened and closed only contains the lines of its hooks.
func (d *draft) empty() bool {
	return !slices.ContainsFunc(d.nodes, func(n node) bool { return n.kind == kindHidden && d.Source != SourceClaudeCode })
}

// fillID derives the id of a conversation without one from its beginning, which later messages do not change.
func (d *draft) fillID() {
	if d.ID != "" || len(d.Turns) == 0 {
		return
	}
	first := d.Turns[0]
	raw, _ := chat.MarshalJSON([]any{first.User, first.CreatedAt})
	sum := sha256.Sum256(raw)
	d.ID = "content-" + hex.EncodeToString(sum[:10])
}

// fillMissing derives missing fields of the conversation from its turns.
func (d *draft) fillMissing() {
	for i := range d.Turns {
		t := &d.Turns[i]
		for _, at := range []time.Time{t.CreatedAt, t.AnsweredAt} {
			if at.IsZero() {
				continue
			}
			if d.CreatedAt.IsZero() {
				d.CreatedAt = at
			}
			if d.UpdatedAt.Before(at) {
				d.UpdatedAt = at
			}
		}
		if t.Key == d.Current && d.Model == "" {
			d.Model = t.Model
		}
	}
	if d.UpdatedAt.IsZero() {
		d.UpdatedAt = d.CreatedAt
	}
	d.Title = strings.TrimSpace(strings.Join(strings.Fields(d.Title), " "))
	named := d.Title != ""
	for i := 0; d.Title == "" && i < len(d.Turns); i++ {
		if d.Title = d.Turns[i].User.Title(); d.Title == "" && d.Turns[i].Assistant != nil {
			d.Title = d.Turns[i].Assistant.Title()
		}
	}
	if d.agent != "" && !named {
		d.Title = strings.TrimSuffix(d.agent+": "+d.Title, ": ")
	}
	d.boundTitles()
}

const noticeTitle = "A title or folder was longer than 1,000 characters; it was cut, and is kept whole in the first turn."

// boundTitles shortens a title that is too long for a list, and keeps the full one in hidden content.
func (d *draft) boundTitles() {
	first := &d.Turns[0].User
	for _, name := range []*string{&d.Title, &d.Folder} {
		short := chat.BoundTitle(*name)
		if short == *name {
			continue
		}
		raw, err := chat.MarshalJSON(map[string]string{"title": *name})
		if err == nil {
			first.Blocks = append(slices.Clone(first.Blocks), d.unknown(raw))
		}
		*name = short
		d.notice(noticeTitle, 1)
	}
}
