package prompt

import (
	"strings"
	"testing"
)

func manifest(ceiling int, cut int64, pieces ...Piece) Manifest {
	m := Manifest{History: HistoryRecord{Cut: cut, Pieces: pieces}}
	m.Budget.InputBudget = ceiling
	return m
}

func withDropped(m Manifest, turns ...int64) Manifest {
	m.DroppedPending = turns
	return m
}

func TestAdapt(t *testing.T) {
	const large, small = 50_000, 8_000
	for name, c := range map[string]struct {
		before, after Manifest
		want          Adaptation
		needs         bool
		text          string
	}{
		"same model":     {manifest(large, 4), manifest(large, 4), Adaptation{Kind: NoChange, From: large, To: large}, false, "Nothing changes"},
		"all still fits": {manifest(large, 0), manifest(small, 0), Adaptation{Kind: Shrinking, From: large, To: small}, false, "fits in full; the working set changes from 50k to 8k"},
		"all fits in a larger working set": {
			manifest(small, 0), manifest(large, 0), Adaptation{Kind: Expanding, From: small, To: large}, false, "fits in full; the working set changes from 8k to 50k",
		},
		"summaries are ready": {
			manifest(large, 2), manifest(small, 12, Piece{From: 1, To: 13, Summary: "s"}),
			Adaptation{Kind: Shrinking, Compressed: 10, From: large, To: small}, false, "10 more turns are represented by summaries",
		},
		"summaries are missing": {
			manifest(large, 2), manifest(small, 12, Piece{From: 1, To: 9, Summary: "s"}, Piece{From: 9, To: 13, Target: 64}),
			Adaptation{Kind: Shrinking, Compressed: 10, From: large, To: small, Unsummarized: 4}, true, "It needs summarization: 4 turns have no summary yet",
		},
		"one turn": {
			manifest(large, 2), manifest(small, 3, Piece{From: 3, To: 4, Target: 64}),
			Adaptation{Kind: Shrinking, Compressed: 1, From: large, To: small, Unsummarized: 1}, true, "1 turn has no summary yet",
		},
		"originals return": {
			manifest(small, 12), manifest(large, 9, Piece{From: 1, To: 10, Target: 64}),
			Adaptation{Kind: Expanding, Returning: 3, From: small, To: large, Unsummarized: 9}, false, "3 earlier turns return as originals",
		},
		"pending turns do not fit": {
			manifest(large, 0), withDropped(manifest(small, 0), 4, 5),
			Adaptation{Kind: Shrinking, From: large, To: small, Dropped: 2}, true, "needs summarization: 2 pending turns are left out",
		},
		"extracts were already used": {
			manifest(large, 2, Piece{From: 1, To: 3, Target: 64}), manifest(small, 2, Piece{From: 1, To: 3, Target: 64}),
			Adaptation{Kind: Shrinking, From: large, To: small, Unsummarized: 2}, false, "fits in full",
		},
	} {
		got := Adapt(c.before, c.after)
		if got != c.want || got.NeedsSummarization() != c.needs || !strings.Contains(got.String(), c.text) ||
			strings.Contains(got.String(), "needs summarization") != c.needs {
			t.Errorf("%s: %+v, %q", name, got, got.String())
		}
	}
}
