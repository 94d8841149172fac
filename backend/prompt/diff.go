package prompt

// Diff is the difference between two contexts, item by item.
type Diff struct {
	Removed []int // indexes of a's texts that b lacks
	Added   []int // indexes of b's texts that a lacks
	// SharedBytes is the size of the common prefix, which a provider's prompt cache can reuse.
	SharedBytes int
	TotalBytes  int // of b
}

// Compare compares two contexts as they were sent.
func Compare(a, b []Text) Diff {
	d := Diff{Removed: missingFrom(a, b), Added: missingFrom(b, a)}
	for _, t := range b {
		d.TotalBytes += t.Bytes
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i].SHA256 != b[i].SHA256 {
			d.SharedBytes += commonPrefix(a[i].Text, b[i].Text)
			break
		}
		d.SharedBytes += b[i].Bytes
	}
	return d
}

func missingFrom(a, b []Text) []int {
	count := map[string]int{}
	for _, t := range b {
		count[t.SHA256]++
	}
	var out []int
	for i, t := range a {
		if count[t.SHA256] == 0 {
			out = append(out, i)
			continue
		}
		count[t.SHA256]--
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
