// Package lists has helpers for slices.
package lists

// Map applies f to each entry, in order. The result is never nil, so it is an empty list in JSON, not null.
func Map[In, Out any](list []In, f func(In) Out) []Out {
	out := make([]Out, len(list))
	for i, in := range list {
		out[i] = f(in)
	}
	return out
}
