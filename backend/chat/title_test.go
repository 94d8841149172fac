package chat

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A title made of the first words does not end with a word that is incomplete without the next one.
func TestTitlesEndWithACompleteThought(t *testing.T) {
	for text, want := range map[string]string{
		"Deploy Orders on Sunday at 05:00 in the morning and also never on Fridays or holidays":         "Deploy Orders on Sunday at 05:00 in the morning",
		"Please rewrite the report about harbour fees so that all of the tables are sorted by date":     "Please rewrite the report about harbour fees",
		"How do I configure replication between two PostgreSQL servers with a slow connection?":         "How do I configure replication between two PostgreSQL",
		"Compare Postgres and MySQL for our web shop with many orders, because the old one is slow":     "Compare Postgres and MySQL for our web shop with many orders",
		"Write a letter to the landlord about the broken heating in my flat, which isn't warm":          "Write a letter to the landlord about the broken heating",
		"Summarize the minutes of yesterday's meeting for a colleague (who was not there at all)":       "Summarize the minutes of yesterday's meeting for a colleague",
		"Our backups run at night, at three; what happens if one of those backups doesn’t finish?":      "Our backups run at night, at three; what happens if one",
		"Translate this contract into German, keep the numbering, and don't change the \"definitions\"": "Translate this contract into German, keep the numbering",
		"Explain quantum entanglement to a school class of ten-year-olds, in a few short words":         "Explain quantum entanglement to a school class",
		"Write down the agenda of the meeting with our suppliers next week, and who is to attend":       "Write down the agenda of the meeting with our suppliers next",
		"Bitte schreibe eine Kündigung für meinen Handyvertrag, der zum Ende des Monats ausläuft":       "Bitte schreibe eine Kündigung für meinen Handyvertrag",
		"Wie richte ich auf dem Server mit Debian eine Firewall ein, die nur SSH zulässt?":              "Wie richte ich auf dem Server mit Debian eine Firewall ein",
		"Unsere Bäckerei öffnet sonntags um sieben Uhr in der Früh und niemals an Feiertagen":           "Unsere Bäckerei öffnet sonntags um sieben Uhr in der Früh",
		"Vergleiche die Angebote der drei Handwerker für das neue Dach, obwohl das eine fehlt":          "Vergleiche die Angebote der drei Handwerker für das neue",
		"Erkläre mir den Unterschied zwischen Umsatzsteuer, Vorsteuer und der Gewerbesteuer":            "Erkläre mir den Unterschied zwischen Umsatzsteuer, Vorsteuer",
		"请帮我写一份关于公司年度会议安排的详细计划书，内容要包括会议时间和地点以及参加会议的人员名单和所需要的设备清单，还有预算与交通安排，以及如果下雨时的备选方案": "请帮我写一份关于公司年度会议安排的详细计划书，内容要包括会议时间和地点以及参加会议的人员名单和所需要的设备清单，还有预算",
		"我们公司的服务器每天晚上十一点自动备份所有数据库和用户上传的文件到另外一台机器上并且保留最近三十天的全部备份记录文件永远不要在周五部署新的版本到生产环境":   "我们公司的服务器每天晚上十一点自动备份所有数据库和用户上传的文件到另外一台机器上并且保留最近三十天的全部备份记录文件",
		"Hallo! Meine Schwester Anna wohnt in Lissabon und hat am 14. Juni Geburtstag": "Hallo! Meine Schwester Anna wohnt in Lissabon",
		"Set up Node.js":     "Set up Node.js",
		"What is this for":   "What is this for",
		"Wofür ist das hier": "Wofür ist das hier",
	} {
		got := TitleFrom(text)
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
		if utf8.RuneCountInString(got) > TitleRunes {
			t.Errorf("%q is too long", got)
		}
	}
}

// The name of a branch contains the whole first sentence of its message, if that is not very long.
func TestLandmark(t *testing.T) {
	for text, want := range map[string]string{
		"How do I keep the sourdough starter alive while I am away for two weeks? It is rye.": "How do I keep the sourdough starter alive while I am away for two weeks?",
		"Rewrite the parser, e.g. with a table. Then measure it.":                             "Rewrite the parser, e.g. with a table",
		"Anna hat am 14. Juni Geburtstag. Bitte merken.":                                      "Anna hat am 14. Juni Geburtstag",
		"We said that it costs 14. Then we left.":                                             "We said that it costs 14",
		"Update to v1.2 of the library.":                                                      "Update to v1.2 of the library",
		"No. Use the other one, please. Thanks":                                               "No. Use the other one, please",
		"请把这个解析器改写成表驱动的形式。然后测量。":                                                              "请把这个解析器改写成表驱动的形式",
		"short": "short",
	} {
		if got := UserText(text).Landmark(); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := UserText(strings.Repeat("word ", 60)).Landmark(); utf8.RuneCountInString(got) > 120 || strings.HasSuffix(got, "…") {
		t.Errorf("a long sentence became %q", got)
	}
}
