package librarian

import (
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

func talk(messages ...string) []chat.Turn {
	var out []chat.Turn
	for i := 0; i+1 < len(messages); i += 2 {
		answer := chat.AssistantText(messages[i+1])
		out = append(out, chat.Turn{Seq: int64(i/2 + 1), User: chat.UserText(messages[i]), Assistant: &answer})
	}
	return out
}

func TestTitle(t *testing.T) {
	tests := []struct {
		name  string
		turns []chat.Turn
		want  string
	}{
		{"nothing", nil, ""},
		{"what is asked", talk("Hello! Could you please help me set up PostgreSQL replication? It is urgent.", "Sure."), "Set up PostgreSQL replication"},
		{"what it comes back to", talk(
			"How do I deploy a Rails app?", "With Kamal, on a server of your own.",
			"And the Kamal secrets?", "Kamal reads them from a file.",
			"What does Kamal do on failure?", "It keeps the old container; Kamal rolls back.",
			"Can the container keep its volume?", "Yes, a container has volumes.",
			"Then which container runs cron?", "A second container.",
		), "Deploy a Rails app: Kamal, container"},
		{"not code", talk("```\nfunc main() {}\n```\nWhat prints this program", "Nothing."), "Prints this program"},
		{"another script", talk("请解释量子纠缠。", "好的。"), "请解释量子纠缠"},
		{"a negation at the cut", talk("We deploy Orders on Sunday at 05:00, never on a Friday.", "Noted."), "Deploy Orders on Sunday at 05:00"},
		{"a negation that comes back", talk("We deploy Orders on Sunday at 05:00, never on a Friday.", "Noted.",
			"Never by hand either.", "Never by hand."), "Deploy Orders on Sunday at 05:00"},
		{"a conjunction at the cut", talk("Rewrite the report about harbour fees and the other tables.", "Done."), "Rewrite the report about harbour fees"},
		{"a German article at the cut", talk("Kannst du Angebote für das Dach vergleichen und die Preise prüfen?", "Ja."), "Angebote für das Dach vergleichen"},
		{"a preposition that was not cut off", talk("Which port does the relay listen on?", "7000."), "Port does the relay listen on"},
		{"the name of a file", talk("Set up Node.js 22.5 on Debian. Quickly!", "Sure."), "Set up Node.js 22.5 on Debian"},
		{"a German ordinal number", talk("Tom hat am 2. Mai Geburtstag. Bitte merken!", "Ja."), "Tom hat am 2. Mai Geburtstag"},
		{"greetings alone", talk("Hi there", "Hello!"), "Hi there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // the order of maps is random
				if got := Title(tt.turns); got != tt.want {
					t.Fatalf("%q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestTitleIsShort(t *testing.T) {
	long := talk("Explain incomprehensibilities of intergovernmental telecommunication infrastructure standardization", "Well.",
		"More on telecommunications interoperability", "Telecommunications interoperability is hard.",
		"Still interoperability", "Interoperability again.")
	if got := Title(long); got == "" || utf8.RuneCountInString(got) > chat.TitleRunes {
		t.Errorf("%q", got)
	}
}
