package store

import "contextinfinity/backend/ledger"

// Each row that a ledger tells of has a method told: the record that the ledger's reducer
// makes of the same events.

// sumOfOptional is the sum of a nullable text; empty for none.
func sumOfOptional(s *string) ledger.Sum {
	if s == nil {
		return ""
	}
	return ledger.SumOfText(*s)
}

// sumIfAny is the sum of bytes; empty for none.
func sumIfAny(b []byte) ledger.Sum {
	if b == nil {
		return ""
	}
	return ledger.SumOf(b)
}
