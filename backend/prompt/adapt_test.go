package prompt

import (
	"strings"
	"testing"
)

func seen(ceiling int, cut int64, pieces ...Piece) Manifest {
	m := Manifest{History: Pinned{Cut: cut, Pieces: pieces}}
	m.Budget.Ceiling = ceiling
	return m
}

func left(m Manifest, turns ...int64) Manifest {
	m.DroppedPending = turns
	return m
}

func TestAdapt(t *testing.T) {
	const large, small = 50_000, 8_000
	for name, c := range map[string]struct {
		before, after Manifest
		want          Adaptation
		needs         bool
		says          string
	}{
		"same model":     {seen(large, 4), seen(large, 4), Adaptation{Kind: NoChange, From: large, To: large}, false, "Nothing changes"},
		"all still fits": {seen(large, 0), seen(small, 0), Adaptation{Kind: Shrinking, From: large, To: small}, false, "fits in full; the working set changes from 50k to 8k"},
		"more room for what fits": {
			seen(small, 0), seen(large, 0), Adaptation{Kind: Expanding, From: small, To: large}, false, "fits in full; the working set changes from 8k to 50k",
		},
		"summaries are ready": {
			seen(large, 2), seen(small, 12, Piece{From: 1, To: 13, Summary: "s"}),
			Adaptation{Kind: Shrinking, Compressed: 10, From: large, To: small}, false, "10 more turns are represented by summaries",
		},
		"summaries are missing": {
			seen(large, 2), seen(small, 12, Piece{From: 1, To: 9, Summary: "s"}, Piece{From: 9, To: 13, Target: 64}),
			Adaptation{Kind: Shrinking, Compressed: 10, From: large, To: small, Unsummarized: 4}, true, "It needs summarization: 4 turns have no summary yet",
		},
		"one turn": {
			seen(large, 2), seen(small, 3, Piece{From: 3, To: 4, Target: 64}),
			Adaptation{Kind: Shrinking, Compressed: 1, From: large, To: small, Unsummarized: 1}, true, "1 turn has no summary yet",
		},
		"originals return": {
			seen(small, 12), seen(large, 9, Piece{From: 1, To: 10, Target: 64}),
			Adaptation{Kind: Expanding, Returning: 3, From: small, To: large, Unsummarized: 9}, false, "3 earlier turns return as originals",
		},
		"pending turns do not fit": {
			seen(large, 0), left(seen(small, 0), 4, 5),
			Adaptation{Kind: Shrinking, From: large, To: small, Dropped: 2}, true, "needs summarization: 2 pending turns are left out",
		},
		"extracts were already used": {
			seen(large, 2, Piece{From: 1, To: 3, Target: 64}), seen(small, 2, Piece{From: 1, To: 3, Target: 64}),
			Adaptation{Kind: Shrinking, From: large, To: small, Unsummarized: 2}, false, "fits in full",
		},
	} {
		got := Adapt(c.before, c.after)
		if got != c.want || got.NeedsSummarization() != c.needs || !strings.Contains(got.String(), c.says) ||
			strings.Contains(got.String(), "needs summarization") != c.needs {
			t.Errorf("%s: %+v, %q", name, got, got.String())
		}
	}
}
