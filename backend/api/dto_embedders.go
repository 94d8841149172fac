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

// EmbedderView is an embedder as shown for selection.
type EmbedderView struct {
	ID      string  `json:"id"`
	Server  string  `json:"server"` // "Ollama", "OpenAI"; empty: built in
	Model   string  `json:"model"`
	Host    string  `json:"host"`    // where texts are sent: "this computer", "api.openai.com"; empty: nowhere
	Remote  bool    `json:"remote"`  // texts leave this computer
	BuiltIn bool    `json:"builtIn"` // hashed features of words
	Price   float64 `json:"price"`   // US dollars per million tokens; 0: free or unknown
}

// EmbedderEstimate is the cost and time of indexing all history with an embedder.
type EmbedderEstimate struct {
	Units  int     `json:"units"`
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"` // US dollars; -1: the price is unknown; 0: it runs on this computer
	Ms     int64   `json:"ms"`   // extrapolated from embedding sample texts
}
