package embedding

import (
	"context"
	"strings"
	"time"

	"contextinfinity/backend/internal/clock"
)

const (
	// paceTexts are embedded to measure an embedder: one request of most servers.
	paceTexts = 16
	// paceTextMax bounds a sample text, in bytes.
	paceTextMax = 4000
)

// sample is what an embedder is measured with: nobody's words.
const sample = "The tide tables for the harbour are printed once a year. They list the times of high and low water, " +
	"the height of each above the chart datum, and the days on which the moon is full. "

// Pace measures how long an embedder takes for one text of about so many bytes. It sends
// sample texts only, never anything of the user's. A first text, which may make a server
// load its model, is not counted.
func Pace(ctx context.Context, e Embedder, c clock.Clock, bytes int) (time.Duration, error) {
	e = Batched(Checked(e), RemoteLimits(e.Identity()))
	text := strings.Repeat(sample, 1+min(bytes, paceTextMax)/len(sample))[:max(min(bytes, paceTextMax), 1)]
	if _, err := e.Embed(ctx, Passage, []string{sample}); err != nil {
		return 0, err
	}
	texts := make([]string, paceTexts)
	for i := range texts {
		texts[i] = string(rune('a'+i)) + " " + text // no two the same: a server may cache
	}
	begun := c.Now()
	if _, err := e.Embed(ctx, Passage, texts); err != nil {
		return 0, err
	}
	return c.Now().Sub(begun) / paceTexts, nil
}
