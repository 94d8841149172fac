package chat

import (
	"regexp"
	"time"
	"unicode/utf8"
)

// ClientScope says which sessions another program may see through our MCP server.
type ClientScope string

const (
	// ClientAsked is of a program that connected and that nobody has answered: it sees nothing.
	ClientAsked ClientScope = "asked"
	// ClientNone is of a program that a person refused.
	ClientNone ClientScope = "none"
	// ClientAll is every session that is not archived.
	ClientAll ClientScope = "all"
	// ClientChosen is the sessions and folders that a person chose.
	ClientChosen ClientScope = "chosen"
)

// Client is another program that reads memory through our MCP server.
type Client struct {
	Name     string      // as a person configured it: --client NAME, or the name of its token
	Scope    ClientScope // ClientChosen: Sessions, and all sessions in Folders
	Sessions []SessionID
	Folders  []string
	Remember bool       // it may write notes
	TokenAt  *time.Time // when its token for HTTP was made; nil: it has none
	// Claims is what it calls itself. Nothing is decided by it.
	Claims    string
	CreatedAt time.Time
	SeenAt    *time.Time // of its last access
	// Notes is the session that its notes go into; empty: it has written none.
	Notes SessionID
}

// ClientChoice is what a person allows a program.
type ClientChoice struct {
	Name     string
	Scope    ClientScope
	Sessions []SessionID
	Folders  []string
	Remember bool
}

// ClientVisit is a program that connects.
type ClientVisit struct {
	Name   string
	Claims string
}

// Outcomes of an access.
const (
	AccessAnswered = "answered"
	AccessRefused  = "refused" // the program may not do that
	AccessFailed   = "failed"
)

// ClientAccess is one access of a program.
type ClientAccess struct {
	ID      int64
	At      time.Time
	Client  string
	Tool    string
	Query   string // what it looked for; of a note, nothing
	Outcome string
	Shown   []ShownTurn // at most MaxShown of what it was given
	More    int         // how many more
}

// ShownTurn is a turn that a program was shown, or with an empty Turn a session in a list.
type ShownTurn struct {
	Session SessionID
	Title   string // of the session, as it is called now
	Turn    TurnID
}

// AccessQuery selects accesses, newest first.
type AccessQuery struct {
	Client string // empty: all
	Before int64  // an id: older ones only; 0: from the newest
	Limit  int
}

// ClientNote is a note that a program leaves.
type ClientNote struct {
	Client string
	Text   string
	// Key names the note: the same key again is the same note, and is not written twice.
	Key string
}

// Bounds of what is kept of other programs.
const (
	MaxClients    = 200
	MaxAccesses   = 5000
	MaxShown      = 50
	MaxNoteBytes  = 64 << 10
	MaxQueryRunes = 1000
	MaxGrants     = 2000 // sessions and folders of one program
)

// A bound in the expression would repeat all letters there are for each place.
var clientName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]*$`)

// CheckClientName refuses what is not a name of a program.
func CheckClientName(name string) error {
	if utf8.RuneCountInString(name) <= 64 && clientName.MatchString(name) {
		return nil
	}
	return Errorf(CodeInvalid, "programs.name", "The name of a program has 1 to 64 letters, digits, spaces, dots, dashes and underscores, and begins with a letter or digit.")
}
