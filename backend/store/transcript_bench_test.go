package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/store/sqlite"
)

// transcriptTurns is the length of the conversation that BenchmarkTranscriptData makes.
const transcriptTurns = 10_000

// BenchmarkTranscriptData creates a data directory with a conversation of 10 000 distinct turns, a minute apart, for
// the tests that drive the built program. Sending them through a provider would take minutes.
func BenchmarkTranscriptData(b *testing.B) {
	if *into == "" {
		b.Skip("-into DIRECTORY is not given")
	}
	f := &fixture{TB: b, ctx: b.Context(), clock: clock.NewFake(start), dir: *into}
	f.ok(os.MkdirAll(f.dir, 0o700))
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.DatabaseFile), template(), 0o600))
	f.open()
	_, branch := f.session("Ten thousand turns")
	f.bulk(branch, transcriptTurns)
	text := `json_object('role', '%s', 'blocks', json_array(json_object('type', 'text', 'text', printf(?, turn_seq))))`
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET created_at = strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-02', '+' || turn_seq || ' minutes'),
		  user_message_json = `+fmt.Sprintf(text, "user")+`, final_assistant_message_json = `+fmt.Sprintf(text, "assistant"),
		"Question %d, which stands in one turn.",
		"**Answer %d**, in some words, as a model writes them, so that a turn takes a few lines of the window.\n\n1. one\n2. two\n\n`n := f(1)`").Error)
	f.ok(f.Store.Close())
}
