package prompt

import (
	"cmp"
	"slices"
	"strings"

	"contextinfinity/backend/internal/untrusted"
)

// What is inside <memory> and <document> was said by anybody, at any time: it may be
// made to close the frame, to pass for another role, or to say to the model what no reader
// sees. Package untrusted takes these means from it (SPEC 2.8; SRD 14.2); the words stay.

// Each artifact stands on lines of its own behind this mark. It has no end tag and no
// id: the mark is paid for each time, and what an artifact is of, the manifest says.
// When and by whom its text was said is the text's own beginning.
const artifactMark = "<m>"

// ArtifactCost is what a text costs, in tokens, as an artifact of the memory block:
// made visible, escaped and framed, exactly as it is sent.
func ArtifactCost(text string, count func(string) int) int {
	return count(artifactText(untrusted.Visible(text)))
}

// MemoryCost is what the memory block around its artifacts costs, in tokens,
// without the lines of their days.
func MemoryCost(count func(string) int) int {
	return count(memoryFrame.open) + count(selection) + count(memoryFrame.close)
}

// Recalled are artifacts as they follow each other in the memory block, without its
// frame and without escapes: the lines of days, and texts.
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

// byTime are the indexes of artifacts in the order in which they were said. Within a
// day those under one line are together, so that it is needed once.
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

// Escaped is a text as it is in the memory block.
func Escaped(text string) string { return untrusted.Memory(untrusted.Visible(text)) }
