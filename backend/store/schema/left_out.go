package schema

import (
	"encoding/hex"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// DeletedRequest begins the mark in the place of a request that was permanently deleted.
const DeletedRequest = `{"erased":`

// leftOut is the mark in the place of a request that a bundle left out. A bundle contains it as the request's content,
// and the importing store keeps it in the request's place. It is a format that existing files depend on.
type leftOut struct {
	LeftOut struct {
		Why    string `json:"why"`
		SHA256 string `json:"sha256"` // of the request, in hex
		Bytes  int    `json:"bytes"`  // its size
	} `json:"left_out"`
}

// Why a request was left out.
const (
	QuotesOthers = "It quoted other conversations, which the bundle does not contain."
	StaysThere   = "It is on the device that sent it; a vault contains no requests."
)

// LeftOutRequest returns the mark in the place of a request with this hash and size.
func LeftOutRequest(why, sha256 string, bytes int) ([]byte, error) {
	var m leftOut
	m.LeftOut.Why = why
	m.LeftOut.SHA256, m.LeftOut.Bytes = sha256, bytes
	return chat.MarshalJSON(m)
}

// maxLeftOut is the maximum size of a mark; a real request of this size is never parsed as one by mistake, because no
// provider's request has the key left_out.
const maxLeftOut = 512

// RequestSHA256 returns the SHA-256 of a request, in hex; marked reports that value is only the mark of one that was
// left out.
func RequestSHA256(value []byte) (sum string, marked bool) {
	var m leftOut
	if len(value) <= maxLeftOut && json.Unmarshal(value, &m) == nil {
		if raw, err := hex.DecodeString(m.LeftOut.SHA256); err == nil && len(raw) == 32 {
			return m.LeftOut.SHA256, true
		}
	}
	return HexHash(value), false
}

// requestSum returns the hash of a request in the ledger's form.
func requestSum(value []byte) ledger.Sum {
	sum, marked := RequestSHA256(value)
	if !marked {
		return ledger.SumOf(value)
	}
	return ledger.Sum(sum[:min(len(sum), 32)])
}
