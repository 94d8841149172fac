package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
)

// Elicitor asks the user questions from servers. If no user is present, the answer is Decline.
type Elicitor interface {
	Elicit(ctx context.Context, q Question) (Answer, error)
}

// Modes of a question.
const (
	ModeForm = "form"
	ModeURL  = "url" // a page is opened; data entered there never reaches this program
)

// Question is a server's question to the user. Its text is untrusted.
type Question struct {
	ID      string  `json:"id"`
	Server  string  `json:"server"`
	Mode    string  `json:"mode"`
	Message string  `json:"message"`
	URL     string  `json:"url"`  // of ModeURL
	Host    string  `json:"host"` // of URL
	Fields  []Field `json:"fields"`
}

// Field types.
const (
	FieldString  = "string"
	FieldNumber  = "number"
	FieldInteger = "integer"
	FieldBoolean = "boolean"
	FieldChoice  = "choice"  // one of Choices
	FieldChoices = "choices" // any of Choices
)

// Field is one value of a form.
type Field struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Type        string   `json:"type"`   // "string", "number", "integer", "boolean", "choice", "choices"
	Format      string   `json:"format"` // of a string: "email", "uri", "date", "date-time" or ""
	Required    bool     `json:"required"`
	Default     []string `json:"default"`
	Choices     []Choice `json:"choices"`
	Min         string   `json:"min"` // empty: unbounded
	Max         string   `json:"max"` // empty: unbounded
}

// Choice is a value that may be chosen.
type Choice struct {
	Value string `json:"value"`
	Title string `json:"title"`
}

// Actions of an answer.
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Answer is the user's answer. Values are by field name. A missing field has its default; one with no values is
// omitted.
type Answer struct {
	Action string
	Values map[string][]string
}

// Limits of a form: a larger one is not answered.
const (
	maxFields   = 50
	maxChoices  = 200
	maxQuestion = 8 << 10 // bytes of a message
)

// questionOf parses a server's question.
func (s *server) questionOf(p *mcp.ElicitParams) (Question, error) {
	q := Question{Server: s.name, Mode: p.Mode, Message: display.Shorten(s.redact(text(p.Message)), maxQuestion)}
	if q.Mode == ModeURL {
		u, err := url.Parse(p.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || len(p.URL) > maxQuestion {
			return q, fmt.Errorf("the address of the page must begin with http:// or https://")
		}
		q.URL, q.Host = p.URL, u.Host
		return q, nil
	}
	q.Mode = ModeForm
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil || len(raw) > 64<<10 {
		return q, fmt.Errorf("the form is too large")
	}
	var form *jsonschema.Schema
	if err := json.Unmarshal(raw, &form); err != nil || form == nil {
		return q, err
	}
	if len(form.Properties) > maxFields {
		return q, fmt.Errorf("the form has too many fields")
	}
	for _, name := range fieldOrder(raw, form) {
		f, err := fieldOf(name, form.Properties[name], slices.Contains(form.Required, name))
		if err != nil {
			return q, err
		}
		f.Title, f.Description = s.redact(f.Title), s.redact(f.Description)
		for i := range f.Choices {
			f.Choices[i].Title = s.redact(f.Choices[i].Title)
		}
		q.Fields = append(q.Fields, f)
	}
	return q, nil
}

// fieldOrder returns the order of the names in the schema; without one, required fields come first.
func fieldOrder(raw []byte, s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) == len(s.Properties) {
		return s.PropertyOrder
	}
	var required, others []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) {
			required = append(required, name)
		} else {
			others = append(others, name)
		}
	}
	return append(required, others...)
}

func fieldOf(name string, s *jsonschema.Schema, required bool) (Field, error) {
	f := Field{Name: name, Required: required}
	if s == nil || len(name) > 200 {
		return f, fmt.Errorf("a field of the form cannot be read")
	}
	f.Title, f.Description, f.Type, f.Format = display.Shorten(text(s.Title), 500), display.Shorten(text(s.Description), 2000), s.Type, s.Format
	f.Default = defaults(s.Default)
	options, titled := s.Enum, s.OneOf
	switch {
	case s.Type == "array" && s.Items != nil:
		f.Type, options, titled = FieldChoices, s.Items.Enum, s.Items.AnyOf
		f.Min, f.Max = count(s.MinItems), count(s.MaxItems)
	case s.Type == FieldString && (len(s.Enum) > 0 || len(s.OneOf) > 0):
		f.Type = FieldChoice
	case s.Type == FieldString:
		f.Min, f.Max = count(s.MinLength), count(s.MaxLength)
		return f, nil
	case s.Type == FieldNumber || s.Type == FieldInteger:
		f.Min, f.Max = number(s.Minimum), number(s.Maximum)
		return f, nil
	case s.Type == FieldBoolean:
		return f, nil
	default:
		return f, fmt.Errorf("a field of the form has an unknown type")
	}
	f.Choices = choicesOf(options, titled, s.Extra["enumNames"])
	if len(f.Choices) == 0 || len(f.Choices) > maxChoices {
		return f, fmt.Errorf("a field of the form has no choices, or too many")
	}
	return f, nil
}

func choicesOf(options []any, titled []*jsonschema.Schema, names any) []Choice {
	var out []Choice
	titles, _ := names.([]any)
	for i, option := range options {
		value, ok := option.(string)
		if !ok {
			continue
		}
		c := Choice{Value: value, Title: display.Shorten(text(value), 500)}
		if i < len(titles) {
			if title, ok := titles[i].(string); ok {
				c.Title = display.Shorten(text(title), 500)
			}
		}
		out = append(out, c)
	}
	for _, t := range titled {
		if t == nil || t.Const == nil {
			continue
		}
		if value, ok := (*t.Const).(string); ok {
			out = append(out, Choice{Value: value, Title: display.Shorten(text(t.Title), 500)})
		}
	}
	return out
}

func defaults(raw json.RawMessage) []string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var out []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case bool:
			out = append(out, strconv.FormatBool(v))
		case float64:
			out = append(out, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return out
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// contentOf returns the user's answer in the server's format.
func (q Question) contentOf(a Answer) (map[string]any, error) {
	out := map[string]any{}
	for _, f := range q.Fields {
		values, ok := a.Values[f.Name]
		if !ok && len(f.Default) > 0 {
			values, ok = f.Default, true
		}
		if !ok || len(values) == 0 && !f.allowsEmpty() {
			if f.Required {
				return nil, chat.Errorf(chat.CodeInvalid, "mcp.answer", "%s is required.", f.label())
			}
			continue
		}
		value, err := f.value(values)
		if err != nil {
			return nil, err
		}
		out[f.Name] = value
	}
	return out, nil
}

// allowsEmpty reports whether an empty list is a valid value, as for a list without minItems. The empty list is sent,
// because a server takes a missing field for its default or for no answer.
func (f Field) allowsEmpty() bool {
	return f.Type == FieldChoices && (f.Min == "" || f.Min == "0")
}

func (f Field) label() string {
	return cmp.Or(f.Title, f.Name)
}

func (f Field) value(values []string) (any, error) {
	invalid := func(expected string) error {
		return chat.Errorf(chat.CodeInvalid, "mcp.answer", "%s must be %s.", f.label(), expected)
	}
	switch f.Type {
	case FieldChoices:
		for _, v := range values {
			if !f.offers(v) {
				return nil, invalid("chosen from the list")
			}
		}
		if f.inside(float64(len(values))) != nil {
			return nil, invalid(f.bounds() + " values from the list")
		}
		return append([]string{}, values...), nil
	case FieldChoice:
		if !f.offers(values[0]) {
			return nil, invalid("chosen from the list")
		}
	case FieldBoolean:
		b, err := strconv.ParseBool(values[0])
		if err != nil {
			return nil, invalid("true or false")
		}
		return b, nil
	case FieldInteger:
		n, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil {
			return nil, invalid("a whole number")
		}
		return n, f.inside(float64(n))
	case FieldNumber:
		n, err := strconv.ParseFloat(values[0], 64)
		if err != nil {
			return nil, invalid("a number")
		}
		return n, f.inside(n)
	case FieldString:
		if f.inside(float64(utf8.RuneCountInString(values[0]))) != nil {
			return nil, invalid(f.bounds() + " characters long")
		}
	}
	return values[0], nil
}

func (f Field) offers(value string) bool {
	return slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value })
}

// bounds describes Min and Max.
func (f Field) bounds() string {
	switch {
	case f.Max == "":
		return "at least " + f.Min
	case f.Min == "":
		return "at most " + f.Max
	}
	return "between " + f.Min + " and " + f.Max
}

// inside returns an error if n is not within Min and Max.
func (f Field) inside(n float64) error {
	low, lerr := strconv.ParseFloat(f.Min, 64)
	high, herr := strconv.ParseFloat(f.Max, 64)
	if lerr == nil && n < low || herr == nil && n > high {
		return chat.Errorf(chat.CodeInvalid, "mcp.answer", "%s must be %s.", f.label(), f.bounds())
	}
	return nil
}

// Questions holds the questions of servers until the user answers them. It is an Elicitor.
type Questions struct {
	// Attended reports whether a user can be asked; nil: never.
	Attended func() bool
	// Changed is called when a question was added or removed; it must not block.
	Changed func(server string)
	// Open shows a page in the browser.
	Open func(url string) error

	mu   sync.Mutex
	next int
	open []*openQuestion
}

type openQuestion struct {
	Question
	answer chan Answer
}

// Elicit waits for the user's answer, until ctx ends.
func (qs *Questions) Elicit(ctx context.Context, q Question) (Answer, error) {
	if qs.Attended == nil || !qs.Attended() {
		return Answer{Action: Decline}, nil
	}
	w := &openQuestion{Question: q, answer: make(chan Answer, 1)}
	qs.mu.Lock()
	qs.next++
	w.ID = strconv.Itoa(qs.next)
	qs.open = append(qs.open, w)
	qs.mu.Unlock()
	qs.Changed(q.Server)
	defer func() {
		qs.mu.Lock()
		qs.open = slices.DeleteFunc(qs.open, func(o *openQuestion) bool { return o == w })
		qs.mu.Unlock()
		qs.Changed(q.Server)
	}()
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return Answer{Action: Cancel}, nil
	}
}

// List returns the open questions, oldest first.
func (qs *Questions) List() []Question {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return lists.Map(qs.open, func(w *openQuestion) Question { return w.Question })
}

// Answer sets the user's answer. An incomplete answer is refused, and the question stays open.
func (qs *Questions) Answer(id string, a Answer) error {
	qs.mu.Lock()
	i := slices.IndexFunc(qs.open, func(w *openQuestion) bool { return w.ID == id })
	if i < 0 {
		qs.mu.Unlock()
		return chat.Errorf(chat.CodeNotFound, "mcp.answer", "This question is no longer open: its server withdrew it, or it was answered.")
	}
	w := qs.open[i]
	qs.mu.Unlock()
	switch a.Action {
	case Accept:
		if _, err := w.contentOf(a); err != nil {
			return err
		}
		if w.Mode == ModeURL {
			if err := qs.Open(w.URL); err != nil {
				return chat.WrapError(chat.CodeUnavailable, "mcp.answer", err, "The page could not be opened in a browser. The question is still open.")
			}
		}
	case Decline, Cancel:
	default:
		return chat.Errorf(chat.CodeInvalid, "mcp.answer", "An answer must be accept, decline or cancel.")
	}
	select {
	case w.answer <- a:
	default: // answered twice concurrently
	}
	return nil
}
