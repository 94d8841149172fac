package prompt

import (
	"cmp"
	"slices"
	"strings"

	"contextinfinity/backend/internal/untrusted"
)

// The content of <memory> and <document> is untrusted: it may try to close the frame, to imitate another role, or to
// give the model text that is invisible to the user. Package untrusted prevents that (SPEC 2.8; SRD 14.2) but keeps
// the words.

// artifactMark is at the beginning of each artifact, on a new line. There is no end tag and no id, because each costs
// tokens, and the manifest records which chunk an artifact is. The artifact's text itself begins with its time and
// speaker.
const artifactMark = "<m>"

// ArtifactCost is the cost of a text as an artifact of the memory block, in tokens: escaped and framed exactly as it
// is sent.
func ArtifactCost(text string, count func(string) int) int {
	return count(artifactText(untrusted.Visible(text)))
}

// MemoryCost is the cost of the memory block without its artifacts and their date headings, in tokens.
func MemoryCost(count func(string) int) int {
	return count(memoryFrame.open) + count(selection) + count(memoryFrame.close)
}

// Recalled returns artifacts in the order of the memory block, without its frame and escaping: date headings and
// texts.
func Recalled(artifacts []Artifact) []string {
	var out []string
	day := ""
	for _, i := range byTime(artifacts) {
		if d := artifacts[i].Day; d != day {
			day = d
			out = append(out, strings.TrimSpace(dayText(d)))
		}
		out = append(out, artifacts[i].Text)
	}
	return out
}

const dayMs = 24 * 60 * 60 * 1000

// byTime returns the indexes of artifacts in chronological order. Artifacts below the same date heading are
// adjacent, so that each heading is needed only once.
func byTime(artifacts []Artifact) []int {
	order := make([]int, len(artifacts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := artifacts[i], artifacts[j]
		return cmp.Or(cmp.Compare(a.At/dayMs, b.At/dayMs), cmp.Compare(a.Day, b.Day), cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.ID, b.ID))
	})
	return order
}

// Escaped is a text as it appears in the memory block.
func Escaped(text string) string { return untrusted.Memory(untrusted.Visible(text)) }
