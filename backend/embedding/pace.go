package embedding

import (
	"context"
	"strings"
	"time"

	"contextinfinity/backend/internal/clock"
)

const (
	// paceTexts is the number of texts embedded to measure an embedder: one request for most servers.
	paceTexts = 16
	// paceTextMax limits a sample text, in bytes.
	paceTextMax = 4000
)

// sample is the text with which an embedder is measured.
const sample = "The tide tables for the harbour are printed once a year. They list the times of high and low water, " +
	"the height of each above the chart datum, and the days on which the moon is full. "

// Pace measures how long an embedder takes for one text of about this many bytes. It only sends sample texts, never
// the user's. A first text, for which a server may have to load its model, is not counted.
func Pace(ctx context.Context, e Embedder, c clock.Clock, bytes int) (time.Duration, error) {
	e = Batched(Checked(e), RemoteLimits(e.Identity()))
	text := strings.Repeat(sample, 1+min(bytes, paceTextMax)/len(sample))[:max(min(bytes, paceTextMax), 1)]
	if _, err := e.Embed(ctx, Passage, []string{sample}); err != nil {
		return 0, err
	}
	texts := make([]string, paceTexts)
	for i := range texts {
		texts[i] = string(rune('a'+i)) + " " + text // all different, because a server may cache
	}
	begun := c.Now()
	if _, err := e.Embed(ctx, Passage, texts); err != nil {
		return 0, err
	}
	return c.Now().Sub(begun) / paceTexts, nil
}
