package transfer

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// activity is an entry of Google's My Activity: a prompt and its answers.
type activity struct {
	Header   str             `json:"header"`
	Title    str             `json:"title"`
	Time     moment          `json:"time"`
	Products []str           `json:"products"`
	Link     str             `json:"titleUrl"`
	Details  json.RawMessage `json:"details"`
	Answers  json.RawMessage `json:"safeHtmlItem"`
	Subtitle list            `json:"subtitles"`
	Files    list            `json:"attachedFiles"`
	Image    json.RawMessage `json:"imageFile"`
}

const (
	noticeActivity = "An activity is not a prompt (a canvas that was made, feedback, a setting); it was left out."
	noticeDay      = "Prompts do not name their conversation; those of one day (UTC) became one session."
)

// takeout parses the Gemini activity from Google Takeout, a list of prompts, newest first. Those that link to a
// conversation are grouped by it, the others by day.
func (r *run) takeout(in Input, from io.Reader) error {
	return r.collect(in, newScanner(from, MaxEntryBytes), &activities{r: r, groups: map[string][]activity{}})
}

type activities struct {
	r      *run
	groups map[string][]activity // by conversation
	order  []string
}

func (as *activities) add(raw json.RawMessage) string {
	var a activity
	if json.Unmarshal(raw, &a) != nil && a.Title == "" {
		return "Not an activity."
	}
	if !a.isPrompt() {
		as.r.notice(noticeActivity, 1)
		return ""
	}
	id := a.conversation()
	if as.groups[id] == nil {
		as.order = append(as.order, id)
	}
	as.groups[id] = append(as.groups[id], a)
	return ""
}

func (as *activities) drafts() []*draft {
	slices.Reverse(as.order)
	return lists.Map(as.order, func(id string) *draft { return takeoutDraft(id, as.groups[id]) })
}

// isGeminiHeader reports whether an activity's header names Gemini, or its earlier name Bard.
func isGeminiHeader(header string) bool {
	header = strings.ToLower(header)
	return strings.Contains(header, "gemini") || strings.Contains(header, "bard")
}

// promptedPrefix is what Takeout writes before a prompt in English. In other languages the title stays unchanged.
const promptedPrefix = "Prompted "

func (a activity) isPrompt() bool {
	isGemini := isGeminiHeader(string(a.Header)) || slices.ContainsFunc(a.Products, func(p str) bool { return isGeminiHeader(string(p)) })
	return isGemini && (len(a.answers()) > 0 || strings.HasPrefix(string(a.Title), promptedPrefix))
}

func (a activity) answers() []string {
	var items []struct {
		HTML str `json:"html"`
	}
	_ = json.Unmarshal(a.Answers, &items) // unexpected fields are left empty
	var out []string
	for _, i := range items {
		if i.HTML != "" {
			out = append(out, string(i.HTML))
		}
	}
	return out
}

const dayPrefix = "day-"

// conversation is the id of the only conversation that an activity links to, otherwise its day.
func (a activity) conversation() string {
	var details []struct {
		URL str `json:"url"`
	}
	_ = json.Unmarshal(a.Details, &details)
	found := ""
	for _, link := range append(details, struct {
		URL str `json:"url"`
	}{a.Link}) {
		u, err := url.Parse(string(link.URL))
		if err != nil || u.Host != "gemini.google.com" || !strings.HasPrefix(u.Path, "/app/") || u.Path == "/app/" {
			continue
		}
		if id := path.Base(u.Path); found == "" || found == id {
			found = id
		} else {
			return dayPrefix + a.day()
		}
	}
	if found == "" {
		found = dayPrefix + a.day()
	}
	return found
}

func (a activity) day() string {
	if a.Time.IsZero() {
		return "unknown"
	}
	return a.Time.UTC().Format("2006-01-02")
}

func takeoutDraft(id string, entries []activity) *draft {
	d := newDraft(SourceTakeout)
	d.ID, d.Provider = id, "google"
	if day, ok := strings.CutPrefix(id, dayPrefix); ok {
		d.Title = "Gemini, " + day
		d.notice(noticeDay, len(entries))
	}
	slices.Reverse(entries)
	slices.SortStableFunc(entries, func(a, b activity) int { return a.Time.Compare(b.Time.Time) })
	taken := map[string]int{}
	for _, a := range entries {
		prompt := strings.TrimPrefix(string(a.Title), promptedPrefix)
		n := node{kind: kindUser, at: a.Time, parent: d.leaf, blocks: texts(prompt)}
		if !a.Time.IsZero() { // not an index, which would be different in a later export
			n.key = a.Time.Format("20060102T150405.000000000")
			if taken[n.key]++; taken[n.key] > 1 {
				n.key += "+" + strconv.Itoa(taken[n.key])
			}
		}
		n.blocks = append(n.blocks, d.unknowns(append(a.Subtitle, a.Files...))...)
		if !isNull(a.Image) {
			n.blocks = append(n.blocks, d.unknown(a.Image))
		}
		key := d.add(n)
		d.leaf = key
		for i, answer := range a.answers() {
			d.leaf = d.add(node{key: key + "/" + strconv.Itoa(i+1), parent: key, kind: kindAssistant, provider: "google", at: a.Time, blocks: takeoutAnswer(answer)})
		}
	}
	return d
}

// takeoutAnswer is an answer's text, and its HTML too if the conversion is incomplete.
func takeoutAnswer(text string) chat.Blocks {
	markdown, complete := markdownOf(text, MaxLineBytes)
	out := texts(markdown)
	if complete && out != nil {
		return out
	}
	raw, _ := chat.MarshalJSON(text)
	return append(out, unknownBlock(SourceTakeout, raw))
}
