package prompt

// Manifest describes one assembled context: its sections in prompt order, every
// item with its source, size and hash, and every shrink step (SPEC 6).
type Manifest struct {
	AssemblerVersion int       `json:"assembler_version"`
	Model            string    `json:"model"`
	Budget           Budget    `json:"budget"`
	Sections         []Section `json:"sections"`
	Shrink           []string  `json:"shrink"` // in words, in order; empty if none
	TotalTokens      int       `json:"total_tokens"`
	SHA256           string    `json:"sha256"` // of the canonical context bytes
}

// Section is one of the eight sections of SPEC 6 that is present.
type Section struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Items  []Part `json:"items"`
}

// Part is one item of a section. Bytes are of its text as sent.
type Part struct {
	Source string `json:"source"` // "config", "pin", "turn", "state", "message"
	ID     string `json:"id,omitempty"`
	Role   string `json:"role,omitempty"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Names of sections.
const (
	SectionSystem    = "system"
	SectionTools     = "tools"
	SectionPinned    = "pinned"
	SectionSummaries = "summaries"
	SectionOriginals = "originals"
	SectionPending   = "pending"
	SectionState     = "state"
	SectionRetrieved = "retrieved"
	SectionMessage   = "message"
)
