package retrieval

import (
	"testing"

	"contextinfinity/backend/chat"
)

// TestARepliesWordsCountForItsQuestion: of two messages with the same words, the one whose reply contains more of the
// question's words is packed first; in chats between people the reply does not count.
func TestARepliesWordsCountForItsQuestion(t *testing.T) {
	alone := func(s *Settings) { s.nearbyBest, s.neighbourSum, s.neighbourWord = 0, 0, 0 }
	for name, tt := range map[string]struct {
		person string
		change func(*Settings)
		first  int64
	}{
		"its reply counts": {change: alone, first: 40},
		"weight 0":         {change: func(s *Settings) { alone(s); s.replyBest = 0 }, first: 60},
		"between people":   {person: "Ann", change: alone, first: 60},
	} {
		m := newMemory()
		m.add(
			line{seq: 40, speaker: tt.person, text: "Contoso called about it."}, line{seq: 40, role: chat.RoleAssistant, speaker: tt.person, text: "Invoices are due in March."},
			line{seq: 60, speaker: tt.person, text: "Contoso called about that."}, line{seq: 60, role: chat.RoleAssistant, speaker: tt.person, text: "Nothing is known."},
		)
		res := find(t, m.engine(tt.change), Query{Text: "Contoso invoices March", MaxTokens: 500})
		var user []int64
		for _, h := range res.Artifacts {
			if h.Role == chat.RoleUser {
				user = append(user, h.TurnSeq)
			}
		}
		if len(user) != 2 || user[0] != tt.first {
			t.Errorf("%s: turns %v, want %d first", name, user, tt.first)
		}
	}
}
