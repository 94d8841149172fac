package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/mcpserver"
)

// ProgramsPanel is the page about other programs that use this memory through MCP.
type ProgramsPanel struct {
	Rev     int64               `json:"rev"`
	HTTP    ProgramsHTTPView    `json:"http"`
	Clients []ProgramClientView `json:"clients"`
	// Snippets are configurations for other programs, to be pasted there.
	Snippets []ProgramSnippetView `json:"snippets"`
	Folders  []string             `json:"folders"` // folders to choose from
}

// ProgramsHTTPView is the HTTP server, which only serves this computer.
type ProgramsHTTPView struct {
	On      bool   `json:"on"` // mcp.server.http
	Running bool   `json:"running"`
	URL     string `json:"url"`
	Problem string `json:"problem"` // why it does not run although it is enabled
}

// ProgramClientView is another program and its permissions.
type ProgramClientView struct {
	Name string `json:"name"`
	// Scope is "asked" (it connected and awaits a decision, without access), "none", "all" or "chosen" (Sessions and
	// Folders).
	Scope     chat.ClientScope     `json:"scope"`
	Sessions  []ProgramSessionView `json:"sessions"`
	Folders   []string             `json:"folders"`
	Remember  bool                 `json:"remember"` // it may write notes
	Claims    string               `json:"claims"`   // the name it reports
	TokenAt   int64                `json:"tokenAt"`  // when its token was created; 0: it has none
	CreatedAt int64                `json:"createdAt"`
	SeenAt    int64                `json:"seenAt"` // of its last access; 0: never
	Notes     string               `json:"notes"`  // the session of its notes; empty: it has written none
}

// ProgramSessionView is a session that a program may see, or was shown.
type ProgramSessionView struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// ProgramSnippetView is the configuration of another program.
type ProgramSnippetView = mcpserver.Snippet

// ProgramChoice is what the user allows a program.
type ProgramChoice struct {
	Name     string           `json:"name"`
	Scope    chat.ClientScope `json:"scope"` // none, all, chosen
	Sessions []string         `json:"sessions"`
	Folders  []string         `json:"folders"`
	Remember bool             `json:"remember"`
}

// ProgramToken is a token for HTTP. It is shown only once.
type ProgramToken struct {
	Name    string `json:"name"`
	Token   string `json:"token"`
	Snippet string `json:"snippet"` // a configuration with the token
}

// ProgramAccessPage is a page of the access log, newest first.
type ProgramAccessPage struct {
	Accesses []ProgramAccessView `json:"accesses"`
	Next     int64               `json:"next"` // Before of the next page; 0: none
}

// ProgramAccessView is one access of a program.
type ProgramAccessView struct {
	ID     int64  `json:"id"`
	At     int64  `json:"at"`
	Client string `json:"client"`
	Tool   string `json:"tool"`
	Query  string `json:"query"`
	// Outcome is "answered", "refused" or "failed".
	Outcome string             `json:"outcome"`
	Shown   []ProgramShownView `json:"shown"`
	More    int                `json:"more"` // how many more results it was shown
}

// ProgramShownView is what a program was shown.
type ProgramShownView struct {
	SessionID string `json:"sessionId"`
	Session   string `json:"session"` // title
	TurnID    string `json:"turnId"`  // empty: the session in a list
}
