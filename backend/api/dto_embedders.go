package api

// EmbeddersView is the embedder in use and the alternatives.
type EmbeddersView struct {
	Current EmbedderView `json:"current"`
	// Options are model embedders found on this machine, and those with a stored key.
	Options []EmbedderView `json:"options"`
	// Offer is the id of the option that the window offers once; empty: none, or the user has responded.
	Offer  string `json:"offer"`
	Units  int    `json:"units"`  // passages that would be embedded
	Tokens int64  `json:"tokens"` // total size
}

// EmbedderView is an embedder as a person chooses it.
type EmbedderView struct {
	ID      string  `json:"id"`
	Server  string  `json:"server"` // "Ollama", "OpenAI"; empty: built in
	Model   string  `json:"model"`
	Host    string  `json:"host"`    // where texts are sent: "this computer", "api.openai.com"; empty: nowhere
	Remote  bool    `json:"remote"`  // texts leave this computer
	BuiltIn bool    `json:"builtIn"` // hashed features of words
	Price   float64 `json:"price"`   // US dollars for a million tokens; 0: free or not known
}

// EmbedderEstimate is what indexing all history with an embedder would take.
type EmbedderEstimate struct {
	Units  int     `json:"units"`
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"` // US dollars; -1: the price is not known; 0: it runs here
	Ms     int64   `json:"ms"`   // at the pace that sample texts were embedded
}
