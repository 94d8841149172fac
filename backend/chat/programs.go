package chat

import (
	"regexp"
	"time"
	"unicode/utf8"
)

// ClientScope says which sessions another program may see through this program's MCP server.
type ClientScope string

const (
	// ClientAsked is for a program that connected and awaits the user's decision: it has no access.
	ClientAsked ClientScope = "asked"
	// ClientNone is for a program that the user refused.
	ClientNone ClientScope = "none"
	// ClientAll is all unarchived sessions.
	ClientAll ClientScope = "all"
	// ClientChosen is the sessions and folders chosen by the user.
	ClientChosen ClientScope = "chosen"
)

// Client is another program that reads memory through this program's MCP server.
type Client struct {
	Name     string      // as configured: --client NAME, or the name of its token
	Scope    ClientScope // ClientChosen: Sessions, and all sessions in Folders
	Sessions []SessionID
	Folders  []string
	Remember bool       // it may write notes
	TokenAt  *time.Time // when its token for HTTP was made; nil: it has none
	// Claims is the name that it reports. No decision depends on it.
	Claims    string
	CreatedAt time.Time
	SeenAt    *time.Time // of its last access
	// Notes is the session for its notes; empty: it has written none.
	Notes SessionID
}

// ClientChoice is what the user allows a program.
type ClientChoice struct {
	Name     string
	Scope    ClientScope
	Sessions []SessionID
	Folders  []string
	Remember bool
}

// ClientVisit is a connection of a program.
type ClientVisit struct {
	Name   string
	Claims string
}

// Outcomes of an access.
const (
	AccessAnswered = "answered"
	AccessRefused  = "refused" // the program has no permission
	AccessFailed   = "failed"
)

// ClientAccess is one access of a program.
type ClientAccess struct {
	ID      int64
	At      time.Time
	Client  string
	Tool    string
	Query   string // the search query; empty for a note
	Outcome string
	Shown   []ShownTurn // at most MaxShown of the results
	More    int         // how many more
}

// ShownTurn is a turn shown to a program, or with an empty Turn a session in a list.
type ShownTurn struct {
	Session SessionID
	Title   string // current title of the session
	Turn    TurnID
}

// AccessQuery selects accesses, newest first.
type AccessQuery struct {
	Client string // empty: all
	Before int64  // an id: older ones only; 0: from the newest
	Limit  int
}

// ClientNote is a note of a program.
type ClientNote struct {
	Client string
	Text   string
	// Key identifies the note: with the same key it is not written twice.
	Key string
}

// Limits for what is stored about other programs.
const (
	MaxClients    = 200
	MaxAccesses   = 5000
	MaxShown      = 50
	MaxNoteBytes  = 64 << 10
	MaxQueryRunes = 1000
	MaxGrants     = 2000 // sessions and folders per program
)

// A length limit in the expression would repeat the large character class.
var clientName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]*$`)

// CheckClientName refuses an invalid name of a program.
func CheckClientName(name string) error {
	if utf8.RuneCountInString(name) <= 64 && clientName.MatchString(name) {
		return nil
	}
	return Errorf(CodeInvalid, "programs.name", "The name of a program must have 1 to 64 letters, digits, spaces, dots, dashes and underscores, and begin with a letter or digit.")
}
