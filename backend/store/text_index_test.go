package store

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// beforeLexical is a database of schema 9, written by the last version that indexed Thai as words separated by spaces
// and did not normalize half-width characters.
const beforeLexical = "testdata/v9-words.db.gz"

// manyScripts contains texts whose indexed form changed after schema 9, and some whose form did not.
var manyScripts = []string{
	"ฐานข้อมูลของเราอยู่ที่เชียงใหม่", "ຖານຂໍ້ມູນຂອງພວກເຮົາ", "មូលដ្ឋានទិន្នន័យ", "ဒေတာဘေ့စ်ကို သိမ်းပါ",
	"ｻｰﾊﾞｰを再起動する", "サーバーを再起動する", "ＡＰＩキー１２３４", "株㍿と葛\U000E0100城", "か\u3099く",
	"我们的数据库在上海", "데이터베이스를 만든다", "The server is in Lyon",
}

func TestWriteBeforeLexical(t *testing.T) {
	if !*update {
		t.Skip("writes " + beforeLexical + " with -update only")
	}
	if v := schema.NewestVersion(migrations.Files); v != 9 {
		t.Fatalf("the schema is at version %d; %s is kept as version 9 wrote it", v, beforeLexical)
	}
	f := newFixture(t)
	_, b := f.session("scripts")
	for _, text := range manyScripts {
		f.full(b.ID, text, "noted")
	}
	f.verifyClean()
	path := filepath.Join(t.TempDir(), "v9.db")
	f.backup(path)
	data, err := os.ReadFile(path)
	f.ok(err)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	f.ok(err)
	_, err = z.Write(data)
	f.ok(err)
	f.ok(z.Close())
	f.ok(os.WriteFile(beforeLexical, packed.Bytes(), 0o644))
}

// TestAnOlderTextIndexIsUpgraded: an index of schema 9 is updated when the database is opened, so that words of every
// script find their messages, and verify passes.
func TestAnOlderTextIndexIsUpgraded(t *testing.T) {
	f := copied(t, unpacked(t, beforeLexical))
	f.verifyClean()
	stored, err := sqlite.All[schema.UnitRow](f.core.DB.Reader, `SELECT u.n, u.pairs, x.text FROM units u JOIN unit_texts x ON x.n = u.n`)
	f.ok(err)
	for _, u := range stored {
		if schema.Text(u.Pairs) != schema.Text(schema.PairsOf(u.Text)) {
			t.Errorf("%q is indexed as %q", u.Text, schema.Text(u.Pairs))
		}
	}
	for word, want := range map[string]int{
		"ข้อมูล": 1, "เชียงใหม่": 1, "ຂໍ້ມູນ": 1, "ទិន្នន័យ": 1, "ဘေ့စ်": 1, "サーバー": 2, "ｻｰﾊﾞｰ": 2, "API": 1, "1234": 1, "がく": 1,
		"葛城": 1, "数据库": 1, "데이터": 1, "Lyon": 1, "ขวด": 0,
	} {
		found, err := f.SearchText(f.ctx, chat.TextQuery{Text: word + " "})
		f.ok(err)
		if hits := f.find(everywhere, 20, word); len(hits) != want || len(found.Hits) != want {
			t.Errorf("%q: %d units, %d messages, want %d", word, len(hits), len(found.Hits), want)
		}
	}
}

// TestIndexFindsWordsOfItsTexts: SQLite finds a text by each of its words and by each pair of characters, queried as
// a search does.
func TestIndexFindsWordsOfItsTexts(t *testing.T) {
	f := newFixture(t)
	f.ok(f.core.DB.Writer.Exec(`CREATE VIRTUAL TABLE temp.probe USING fts5 (body, tokenize='porter unicode61')`).Error)
	letters := rapid.SampledFrom([]rune("aZé9,. -'\"*猫数据库サバｻﾊーｰ\u3099ﾞﾟ데이터ㄱกขท\u0E35\u0E48ຂ\u0EB9ក\u17D2ឋမ\u103CＡ１〇々㍿\U000E0100"))
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.StringOfN(letters, 1, 30, -1).Draw(rt, "text")
		tx := f.core.DB.Writer.Begin()
		defer tx.Rollback()
		f.ok(tx.Exec(`INSERT INTO probe VALUES (?)`, lexical.IndexText(body)).Error)
		for _, word := range lexical.Words(body) {
			for _, term := range append(lexical.Pairs(word), word) {
				match := search.MatchTerm(term)
				if match == "" {
					continue // only combining marks
				}
				if n, err := sqlite.All[int](tx, `SELECT count(*) FROM probe WHERE probe MATCH ?`, match); err != nil || n[0] != 1 {
					rt.Fatalf("%q (%s) does not find %q, indexed as %q: %v", term, match, body, lexical.IndexText(body), err)
				}
			}
		}
	})
}

// TestSearchOfEveryScript: in Japanese, Chinese, Thai and Korean, retrieval finds the answer to a question, and a
// user's search finds and highlights words in either width.
func TestSearchOfEveryScript(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("scripts")
	r := f.retriever()
	answers := map[string]chat.TurnID{}
	for _, exchange := range [][2]string{
		{"本番サーバーは毎週火曜日の夜に再起動します。", "了解しました。"},
		{"ﾃｽﾄ用ｻｰﾊﾞｰのﾊﾟｽﾜｰﾄﾞは青い箱に入っています。", "はい。"},
		{"京都の旅館は三月に予約しました。", "楽しみですね。"},
		{"我们把数据库备份放在上海的机房。", "好的。"},
		{"猫每天早上六点吃饭。", "记住了。"},
		{"张伟负责前端界面的设计。", "明白。"},
		{"ฐานข้อมูลสำรองเก็บไว้ที่เชียงใหม่", "รับทราบ"},
		{"ร้านกาแฟที่ชอบที่สุดอยู่ใกล้แม่น้ำ", "เข้าใจแล้ว"},
		{"데이터베이스 백업은 부산 사무실에 있습니다.", "알겠습니다."},
		{"회의는 매주 목요일 오후 세 시에 합니다.", "네."},
		{"The English notes are about sailing.", "Noted."},
		{"Mr O’Neill wrote setUserName and left +49 (0)30 123456.", "Good."},
	} {
		turn := f.say(b.ID, exchange[0], exchange[1])
		f.commitAll(b.ID)
		r.index(f, turn.ID)
		answers[exchange[0]] = turn.ID
	}
	for _, c := range []struct{ ask, answer string }{
		{"サーバーはいつ再起動しますか", "本番サーバーは毎週火曜日の夜に再起動します。"},
		{"ｻｰﾊﾞｰはいつ再起動しますか", "本番サーバーは毎週火曜日の夜に再起動します。"},
		{"テスト用サーバーのパスワードは?", "ﾃｽﾄ用ｻｰﾊﾞｰのﾊﾟｽﾜｰﾄﾞは青い箱に入っています。"},
		{"数据库备份在哪里?", "我们把数据库备份放在上海的机房。"},
		{"猫 吃饭", "猫每天早上六点吃饭。"},
		{"猫", "猫每天早上六点吃饭。"},
		{"ข้อมูลสำรองอยู่ที่ไหน", "ฐานข้อมูลสำรองเก็บไว้ที่เชียงใหม่"},
		{"ร้านกาแฟไหนที่ชอบ", "ร้านกาแฟที่ชอบที่สุดอยู่ใกล้แม่น้ำ"},
		{"데이터베이스는 어디에 백업하나요?", "데이터베이스 백업은 부산 사무실에 있습니다."},
		{"목요일에 무엇이 있나요?", "회의는 매주 목요일 오후 세 시에 합니다."},
		{"what did oneill write?", "Mr O’Neill wrote setUserName and left +49 (0)30 123456."},
		{"username", "Mr O’Neill wrote setUserName and left +49 (0)30 123456."},
		{"user name", "Mr O’Neill wrote setUserName and left +49 (0)30 123456."},
		{"whose number is +4930123456?", "Mr O’Neill wrote setUserName and left +49 (0)30 123456."},
	} {
		res, err := r.engine.Search(f.ctx, retrieval.Query{Text: c.ask, Within: chat.Within{Scope: chat.ScopeLineage, Branch: b.ID}, MaxTokens: 200, Count: tokensOf})
		f.ok(err)
		if len(res.Hits) == 0 || res.Hits[0].SourceTurn != answers[c.answer] || res.Hits[0].Keyword == 0 || len(res.Hits[0].Why.Words) == 0 {
			t.Errorf("%q: %d hits, the first is %+v", c.ask, len(res.Hits), res.Hits[:min(1, len(res.Hits))])
		}
		if len(res.Artifacts) == 0 || !strings.Contains(res.Artifacts[0].Text, c.answer) {
			t.Errorf("%q: packed %+v", c.ask, res.Artifacts)
		}
	}
	for query, want := range map[string][]string{
		"username ": {"UserName"}, "oneill": {"O’Neill"}, "+4930123456 ": {"49 (0)30 123456"},
		"サーバー": {"サーバー", "ｻｰﾊﾞｰ"}, "ｻｰﾊﾞｰ ": {"サーバー", "ｻｰﾊﾞｰ"}, "サーバ": {"サーバ", "ｻｰﾊﾞ"}, "パスワード ": {"ﾊﾟｽﾜｰﾄﾞ"},
		"数据库 ": {"数据库"}, "猫": {"猫"}, "ข้อมูล ": {"ข้อมูล"}, "ที่ ": {"ที่", "ที่"}, "แม่น": {"แม่น้"}, "데이터 ": {"데이터"}, `"목요일 오후"`: {"목요일 오후"},
	} {
		found, err := f.SearchText(f.ctx, chat.TextQuery{Text: query})
		f.ok(err)
		got := lists.Map(found.Hits, func(h chat.TextHit) string { return h.Snippet[h.Spans[0].Start:h.Spans[0].End] })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q marks %q, want %q", query, got, want)
		}
	}
	f.verifyClean()
}

// TestDamagedRecordsDoNotPreventOpening: units of an unreadable message keep their old indexed form; all others are
// updated, and the database opens.
func TestDamagedRecordsDoNotPreventOpening(t *testing.T) {
	master := unpacked(t, beforeLexical)
	raw, err := os.ReadFile(master)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte("我们的数据库在上海"))
	if at < 0 {
		t.Fatal("the message is not in the file")
	}
	raw[at-1] = 'x' // the quotation mark before the text, so that the message is no longer valid JSON
	if err := os.WriteFile(master, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	f := copied(t, master)
	for word, want := range map[string]int{"Lyon": 1, "ข้อมูล": 1} {
		if hits := f.find(everywhere, 20, word); len(hits) != want {
			t.Errorf("%q: %d hits, want %d", word, len(hits), want)
		}
	}
	found, err := f.Verify(f.ctx)
	f.ok(err)
	if len(found) == 0 {
		t.Error("the damage is not named")
	}
}
