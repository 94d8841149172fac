package prompt

import "contextinfinity/backend/chat"

// Task is a request of the program itself, such as for a summary: instructions and one text, without a conversation.
type Task struct {
	System    string
	User      string
	MaxOutput int
	Limits    Limits
	Count     func(string) int
	Redact    func(string) (string, []Redaction)
}

// PrepareTask creates a task's context, or reports by how much it is too large: it is never sent over the model's
// limit.
func PrepareTask(t Task) (PreparedContext, error) {
	if t.Redact == nil {
		t.Redact = func(s string) (string, []Redaction) { return s, nil }
	}
	system, _ := t.Redact(t.System)
	user, _ := t.Redact(t.User)
	b := NewBudget(t.Limits, Policy{History: HistoryOff}, 1)
	c := PreparedContext{
		ok: true, system: []string{system}, messages: []chat.Message{chat.UserText(user)},
		tokens: t.Count(system) + t.Count(user) + 2*messageOverhead,
	}
	if limit := b.InputBudget; c.tokens > limit {
		e := &OverBudgetError{Required: c.tokens, Ceiling: limit, System: t.Count(system), Msg: t.Count(user)}
		return PreparedContext{}, chat.WrapError(chat.CodeOverBudget, "prompt.task", e, "%s", e)
	}
	c.maxOutput = max(1, min(t.MaxOutput, t.Limits.MaxOutput, t.Limits.ContextLimit-c.tokens))
	c.manifest = Manifest{AssemblerVersion: AssemblerVersion, Budget: b, TotalTokens: c.tokens, SHA256: canonicalHash(c)}
	return c, nil
}
