package librarian_test

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/librarian"
)

func TestStatements(t *testing.T) {
	cases := map[string]librarian.Kind{
		"We decided to store everything in SQLite.":        librarian.KindDecision,
		"OK, let's go with Svelte 5.":                      librarian.KindDecision,
		"Wir haben uns für PostgreSQL entschieden.":        librarian.KindDecision,
		"Nous avons choisi la version deux.":               librarian.KindDecision,
		"Al final usaremos Redis como caché.":              librarian.KindDecision,
		"Мы решили хранить всё локально.":                  librarian.KindDecision,
		"我们决定使用SQLite。":                                    librarian.KindDecision,
		"データベースはSQLiteに決定。":                                librarian.KindDecision,
		"우리는 SQLite를 쓰기로 결정했다.":                            librarian.KindDecision,
		"Never write an API key to the log.":               librarian.KindConstraint,
		"The answer must not exceed the limit.":            librarian.KindConstraint,
		"Don’t touch the migrations.":                      librarian.KindConstraint,
		"Die Datei darf nicht überschrieben werden.":       librarian.KindConstraint,
		"Il ne faut jamais bloquer l'interface.":           librarian.KindConstraint,
		"Nunca borres los datos del usuario.":              librarian.KindConstraint,
		"Ключ никогда не попадает в журнал.":               librarian.KindConstraint,
		"密钥绝不能写入日志。":                                       librarian.KindConstraint,
		"キーは絶対にログに書かない。":                                   librarian.KindConstraint,
		"키를 로그에 절대 쓰지 않는다.":                                librarian.KindConstraint,
		"TODO: write the importer.":                        librarian.KindTask,
		"- [ ] write the exporter":                         librarian.KindTask,
		"Next step is the installer.":                      librarian.KindTask,
		"Als nächstes kommt der Import.":                   librarian.KindTask,
		"接下来写导入程序。":                                        librarian.KindTask,
		"- [x] write the exporter":                         librarian.KindDone,
		"My name is Ada and I am here.":                    librarian.KindFact,
		"The p95 was 38 ms on that machine.":               librarian.KindFact,
		"The file has 12MB.":                               librarian.KindFact,
		"It costs $40 a seat.":                             librarian.KindFact,
		"The release is on 2026-03-04.":                    librarian.KindFact,
		"超时是30秒。":                                          librarian.KindFact,
		"Should we always use Redis?":                      "",
		"The sky is blue.":                                 "",
		"never":                                            "",
		"Passwords must be hashed with bcrypt.":            librarian.KindConstraint,
		"The page must be fast on phones.":                 librarian.KindConstraint,
		"It must be under 2 MB.":                           librarian.KindConstraint,
		"I have never been to the sea.":                    "",
		"That must be nice.":                               "",
		"It must be wonderful to live there.":              "",
		"Die Passwörter müssen mit bcrypt gehasht werden.": librarian.KindConstraint,
		"From now on, answer in German.":                   librarian.KindConstraint,
		"Ab jetzt bitte kurze Antworten.":                  librarian.KindConstraint,
		"今后请用表格回答。":                                        librarian.KindConstraint,
		"Can you help me to never forget it?":              "",
		"## We must never forget the plan":                 "",
		"**Follow up with the team**":                      "",
		"| never | 12 MB |\n|---|---|\n| always | 3 s |":   "",
		"[^1]: We must never measure on 2 cores.":          "",
		"> You must always ask first.":                     "",
		"The meeting is on March 15, 2024.":                librarian.KindFact,
		"It starts at 09:30.":                              librarian.KindFact,
		"It was version 12 of a long story about people.":  "",
	}
	for text, want := range cases {
		var got []librarian.Kind
		for _, e := range librarian.Entities(text) {
			switch e.Kind {
			case librarian.KindPath, librarian.KindSymbol, librarian.KindID, librarian.KindURL:
			default:
				got = append(got, e.Kind)
			}
		}
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []librarian.Kind{want}) {
			t.Errorf("%q gives %v, want %q", text, got, want)
		}
	}
}

func TestArtifacts(t *testing.T) {
	cases := map[string]string{
		"edit backend/store/open.go:42, please":         "path backend/store/open.go:42",
		"look at (main.go).":                            "path main.go",
		"in /etc/nginx/nginx.conf it says":              "path /etc/nginx/nginx.conf",
		`run C:\Users\ada\x.bat`:                        `path C:\Users\ada\x.bat`,
		"~/.config/app and ./run":                       "path ~/.config/app path ./run",
		"the Makefile, the .env":                        "path Makefile path .env",
		"修改main.go文件":                                   "path main.go",
		"目录 /home/文档/a.txt 里":                           "path /home/文档/a.txt",
		"see https://example.com/a?b=c#d.":              "url https://example.com/a?b=c#d",
		"commit 8c7e5be2 fixes ABC-123 and #42":         "id 8c7e5be2 id ABC-123 id #42",
		"id 123e4567-e89b-12d3-a456-426614174000":       "id 123e4567-e89b-12d3-a456-426614174000",
		"turn 01K0ABCDEFGHJKMNPQRSTVWXYZ":               "id 01K0ABCDEFGHJKMNPQRSTVWXYZ",
		"version v1.26.0 at 10.0.0.1:8080":              "id v1.26.0 id 10.0.0.1:8080",
		"mail ada@example.org":                          "id ada@example.org",
		"call parseEntry or journal.Writer":             "symbol parseEntry symbol journal.Writer",
		"set max_retries with --dry-run":                "symbol max_retries symbol --dry-run",
		"use `Close()` and `x`":                         "symbol Close()",
		"std::vector is fine":                           "symbol std::vector",
		"```go\nfunc (w *Writer) Append(ev int) {\n```": "symbol Append",
		"```python\nclass Store(Base):\n  x = fooBar\n": "symbol Store",
		"call console.log and response.json() here":     "",
		"return `console.log` of process.env":           "symbol console.log",
		"```js\n// Function to get data with a schema\nconst load = async (id) => {\n```":            "symbol load",
		"```js\nconst r = await axios.get(`https://api.example.com/v1/x?q=${city}`);\nr.json()\n```": "url https://api.example.com/v1/x",
		"see `https://example.com/img/${icon}@2x.png` there":                                         "url https://example.com/img/${icon}@2x.png",
		"```html\n<div class=\"box\"><link href=\"styles.css\"></div>\n```":                          "path styles.css",
		"```sh\nexport MAX_CONN=42\n```":                                                             "symbol MAX_CONN=42",
		"set MAX_CONN=42 and LOG_LEVEL = debug":                                                      "symbol MAX_CONN=42 symbol LOG_LEVEL = debug symbol LOG_LEVEL",
		"| file | size |\n|---|---|\n| a/b.go | 2 |":                                                 "path a/b.go",
		"and/or, 1/2, 3.5, e.g. UTF-8, the end.":                                                     "",
		"It happened on 01/02/2026 (I think).":                                                       "",
		"Well-known words, nothing else!":                                                            "",
		"1234567 is a number, deadbeef is a word":                                                    "",
	}
	for text, want := range cases {
		var got []string
		for _, e := range librarian.Entities(text) {
			switch e.Kind {
			case librarian.KindPath, librarian.KindSymbol, librarian.KindID, librarian.KindURL:
				got = append(got, string(e.Kind)+" "+e.Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func hugeTexts(size int) map[string]string {
	grow := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"prose":          grow("We must never forget main.go, said the man; it has 12 MB of `parseEntry`. "),
		"lines":          grow("ERROR 2026-03-04 10:11:12 backend/store/open.go:42 could not open 01K0ABCDEFGHJKMNPQRSTVWXYZ\n"),
		"one letter":     grow("a"),
		"Chinese":        grow("我们决定使用数据库而且必须记录所有内容接下来"),
		"backticks":      grow("`"),
		"brackets":       grow("<<[[(("),
		"slashes":        grow("/a"),
		"dots":           grow("a."),
		"spaces":         grow(" "),
		"hashes":         grow("#"),
		"invalid UTF-8":  grow("\xff\xfe"),
		"fences":         grow("```\n"),
		"short lines":    grow("x\n"),
		"three of these": grow("We decided to do it. ") + grow("никогда ") + grow("決定"),
	}
}
