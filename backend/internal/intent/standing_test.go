package intent_test

import (
	"slices"
	"testing"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lists"
)

func TestStandingInstructions(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"Always answer in British English.", []string{"Always answer in British English."}},
		{"I need a table. From now on, use tabs. Thanks!", []string{"From now on, use tabs."}},
		{"Never deploy on a Friday, please, and tell me when it is done.", []string{"Never deploy on a Friday, please, and tell me when it is done."}},
		{"For code, always include types.", []string{"For code, always include types."}},
		{"I prefer short answers.\nWhat is a monad?", []string{"I prefer short answers."}},
		{"Keep it short and never apologise.", []string{"Keep it short and never apologise."}},
		{"Remember to always quote the source.", []string{"Remember to always quote the source."}},
		{"Please never mention my employer.", []string{"Please never mention my employer."}},
		{"We never deploy on Fridays.", []string{"We never deploy on Fridays."}},
		{"Secrets must never be logged.", []string{"Secrets must never be logged."}},
		{"You should always cite your sources.", []string{"You should always cite your sources."}},
		{"Could you please always give units?", []string{"Could you please always give units?"}},
		{"- Always use SI units\n- buy milk\n1. Never round", []string{"Always use SI units", "Never round"}},
		{"Whenever I ask about dates, answer in ISO 8601.", []string{"Whenever I ask about dates, answer in ISO 8601."}},
		{"Use metric units always.", []string{"Use metric units always."}},
		{"Antworte immer auf Deutsch.", []string{"Antworte immer auf Deutsch."}},
		{"Ab jetzt bitte ohne Emojis.", []string{"Ab jetzt bitte ohne Emojis."}},
		{"Preise dürfen nie in den Logs stehen.", []string{"Preise dürfen nie in den Logs stehen."}},
		{"Réponds toujours en français.", []string{"Réponds toujours en français."}},
		{"Responde siempre en español.", []string{"Responde siempre en español."}},
		{"从现在起请用中文回答。今天天气很好。", []string{"从现在起请用中文回答。"}},
		{"永远不要使用表格。", []string{"永远不要使用表格。"}},
		{"今後は日本語で答えてください。", []string{"今後は日本語で答えてください。"}},
		{"Отвечай всегда по-русски.", []string{"Отвечай всегда по-русски."}},
		{"Always keep the summary under two\nhundred words, as before.", []string{"Always keep the summary under two\nhundred words, as before."}},

		{"Mai usare tabelle.", []string{"Mai usare tabelle."}},

		{"Tom hat am 2. Mai Geburtstag.", nil},
		{"Im Mai ist es warm.", nil},
		{"I've never been to Paris.", nil},
		{"Never mind, I found it.", nil},
		{"I always wondered how that works.", nil},
		{"As always, thank you.", nil},
		{"It was always raining there.", nil},
		{"Das ist immer so.", nil},
		{"Ich habe nie verstanden, warum.", nil},
		{"I used to always go there.", nil},
		{"They brighten up our day and always make us smile.", nil},
		{"It reminds me to always look out for others.", nil},
		{"We are like a family, always supporting each other.", nil},
		{"Her name is Shadow.", nil},
		{"Happy to help whenever you need it!", nil},
		{"Should I always use a mutex?", nil},
		{"He said: ok.\n> Always use tabs.", nil},
		{"\"Always be closing\" is a quote.", nil},
		{"```\n// always close the file\n```", nil},
		{"| rule | always |\n|---|---|\n| tabs | never use |", nil},
		{"## Always and never", nil},
		{"", nil},
	}
	for _, c := range cases {
		got := lists.Map(intent.StandingInstructions(c.text), func(s intent.Span) string { return c.text[s.Start:s.End] })
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestNeverOnAFriday: "never" before a circumstance, without a verb of its own, makes a rule of what is done here or
// ordered, and not of what others do or what happened.
func TestNeverOnAFriday(t *testing.T) {
	for sentence, want := range map[string]bool{
		"We deploy Orders on Sunday at 05:00, never on a Friday.":     true,
		"Ship the release in the morning, never at night.":            true,
		"Please call me in the afternoon, and never before nine.":     true,
		"We pay suppliers within 30 days, but never on the due date.": true,
		"Wir spielen Orders sonntags ein, nie an einem Freitag.":      true,
		"Schick mir die Berichte per Mail, niemals als Anhang.":       true,
		"Bitte ruf nachmittags an, nie vor neun.":                     true,
		"我们周日部署 Orders，绝不在周五部署。":                                      true,
		"我们从不在周五上线。":                                                  true,
		"报告里绝不要出现客户的名字。":                                              true,
		"We met on Sundays back then, never on a Friday.":             false,
		"He arrives late, never on time.":                             false,
		"We walked along the river in spring, never in summer.":       false,
		"The museum opens on Tuesday, never on a Monday.":             false,
		"Do we deploy on Sunday, never on a Friday?":                  false,
		"Wir waren sonntags dort, nie am Freitag.":                    false,
		"Meine Schwester kommt mittags, nie am Abend.":                false,
		"我们从不知道他住在哪里。":                                                false,
		"我们绝不在乎这件事。":                                                  false,
		"我们以前从不在周五见过他。":                                               false,
	} {
		if got := intent.IsStanding(sentence); got != want {
			t.Errorf("%q: %v", sentence, got)
		}
	}
}

func TestSentences(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"Dr. Meyer comes at 9 a.m. on 3. Mai with J. Smith. Good.", []string{"Dr. Meyer comes at 9 a.m. on 3. Mai with J. Smith.", "Good."}},
		{"Use v1.2.3 of config.yaml now. It works.", []string{"Use v1.2.3 of config.yaml now.", "It works."}},
		{"He said \"no.\" Then he left.", []string{"He said \"no.\"", "Then he left."}},
		{"这是一。这是二！", []string{"这是一。", "这是二！"}},
		{"It takes 38 ms. Then it waits 5 min. Good.", []string{"It takes 38 ms.", "Then it waits 5 min.", "Good."}},
		{"Es ist im 2. Stock. Gut.", []string{"Es ist im 2. Stock.", "Gut."}},
		{"It costs 14. Then we left.", []string{"It costs 14.", "Then we left."}},
		{"The answer is no. We wait.", []string{"The answer is no.", "We wait."}},
	}
	for _, c := range cases {
		var got []string
		for s := range intent.Sentences(c.text, intent.Span{End: len(c.text)}) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestBlocks(t *testing.T) {
	text := "# Plan\n\nThe first paragraph was wrapped by hand at some column\nand goes to here.\nNext steps:\n- one\n  more of it\n* [ ] open\n* [x] done\n" +
		"1. **Opening Statements** (15 minutes)\n2. **Follow-Up**: send the notes\n| a | b |\n|---|---|\n| 1 | 2 |\n> quoted\n[^1]: a note\n```go\nx := 1\n```\nLast.\nTitle\n====="
	want := []struct {
		kind intent.BlockKind
		text string
	}{
		{intent.Heading, "Plan"},
		{intent.Paragraph, "The first paragraph was wrapped by hand at some column\nand goes to here."},
		{intent.Heading, "Next steps:"},
		{intent.Item, "one\n  more of it"},
		{intent.OpenTask, "open"},
		{intent.DoneTask, "done"},
		{intent.Heading, "**Opening Statements** (15 minutes)"},
		{intent.Item, "**Follow-Up**: send the notes"},
		{intent.TableRow, "| a | b |"},
		{intent.TableRow, "| 1 | 2 |"},
		{intent.Quote, "quoted"},
		{intent.Footnote, "[^1]: a note"},
		{intent.Code, "x := 1"},
		{intent.Paragraph, "Last."},
		{intent.Heading, "Title"},
	}
	i := 0
	for b := range intent.Blocks(text) {
		if i >= len(want) || b.Kind != want[i].kind || text[b.Start:b.End] != want[i].text {
			t.Fatalf("block %d: %d %q; want %+v", i, b.Kind, text[b.Start:b.End], want[min(i, len(want)-1)])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d blocks, want %d", i, len(want))
	}
}

func FuzzStandingInstructions(f *testing.F) {
	f.Add("Always. > never\n| a |\n```\nx\n- [ ] from now on")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, s := range intent.StandingInstructions(text) {
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: span %v after %d", text, s, end)
			}
			end = s.End
		}
	})
}
