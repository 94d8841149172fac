package api

import "contextinfinity/backend/chat"

// ProgramsPanel is the page about other programs that use this memory through MCP.
type ProgramsPanel struct {
	Rev     int64               `json:"rev"`
	HTTP    ProgramsHTTPView    `json:"http"`
	Clients []ProgramClientView `json:"clients"`
	// Snippets are what is pasted into other programs so that they find this one.
	Snippets []ProgramSnippetView `json:"snippets"`
	Folders  []string             `json:"folders"` // that there are to choose from
}

// ProgramsHTTPView is the server over HTTP, which serves this computer alone.
type ProgramsHTTPView struct {
	On      bool   `json:"on"` // mcp.server.http
	Running bool   `json:"running"`
	URL     string `json:"url"`
	Problem string `json:"problem"` // why it does not run although it is on
}

// ProgramClientView is another program and what it may see.
type ProgramClientView struct {
	Name string `json:"name"`
	// Scope is "asked" (it connected and waits for an answer; it sees nothing), "none", "all" or
	// "chosen" (Sessions and Folders).
	Scope     chat.ClientScope     `json:"scope"`
	Sessions  []ProgramSessionView `json:"sessions"`
	Folders   []string             `json:"folders"`
	Remember  bool                 `json:"remember"` // it may write notes
	Claims    string               `json:"claims"`   // what it calls itself
	TokenAt   int64                `json:"tokenAt"`  // when its token was made; 0: it has none
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
type ProgramSnippetView struct {
	Program string `json:"program"`
	File    string `json:"file"` // where it goes, in words
	Text    string `json:"text"`
}

// ProgramChoice is what a person allows a program.
type ProgramChoice struct {
	Name     string           `json:"name"`
	Scope    chat.ClientScope `json:"scope"` // none, all, chosen
	Sessions []string         `json:"sessions"`
	Folders  []string         `json:"folders"`
	Remember bool             `json:"remember"`
}

// ProgramToken is a token for HTTP. It is shown once and cannot be read again.
type ProgramToken struct {
	Name    string `json:"name"`
	Token   string `json:"token"`
	Snippet string `json:"snippet"` // a configuration that holds it
}

// ProgramAccessPage is a part of the access record, newest first.
type ProgramAccessPage struct {
	Accesses []ProgramAccessView `json:"accesses"`
	Next     int64               `json:"next"` // Before of the next page; 0: there is none
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
	More    int                `json:"more"` // how many more it was shown
}

// ProgramShownView is what a program was shown.
type ProgramShownView struct {
	SessionID string `json:"sessionId"`
	Session   string `json:"session"` // title
	TurnID    string `json:"turnId"`  // empty: the session in a list
}
