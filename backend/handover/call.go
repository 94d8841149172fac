package handover

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Call is a start of the program that another one is to carry out.
type Call struct {
	// Args are the arguments, byte for byte: JSON strings would change what is not
	// UTF-8. Empty: the window is asked to come to the front.
	Args [][]byte `json:"args"`
	// Files are what the window is given on coming to the front: absolute paths, byte
	// for byte. NewChat asks it for a new conversation.
	Files   [][]byte `json:"files,omitempty"`
	NewChat bool     `json:"new_chat,omitempty"`
	// Window: the caller is a further window. Input and output are the two ways of its link (package relay).
	Window bool `json:"window,omitempty"`
	// Quick: the window is the small one for a quick question, of which there is one.
	Quick bool `json:"quick,omitempty"`
	// Session is what a window is opened on, or asked to open.
	Session string `json:"session,omitempty"`
	// Dir is where relative paths begin.
	Dir string `json:"dir"`
	// Config is the configuration file in force at the caller's.
	Config string `json:"config"`
	// Terminals say which of its streams a person sits at.
	Terminals Terminals `json:"terminals"`
}

// Terminals are facts about the caller's streams.
type Terminals struct {
	In       bool `json:"in"`
	Out      bool `json:"out"`
	Err      bool `json:"err"`
	OutColor bool `json:"out_color"`
	ErrColor bool `json:"err_color"`
}

// Words are the arguments as a program gets them.
func (c Call) Words() []string { return texts(c.Args) }

// Paths are the files that the window is given.
func (c Call) Paths() []string { return texts(c.Files) }

// NewCall is a call with these arguments.
func NewCall(args []string) Call { return Call{Args: bytesOf(args)} }

// ToFront is a call for the window, with files for it.
func ToFront(files []string, newChat bool) Call {
	return Call{Files: bytesOf(files), NewChat: newChat}
}

// NewWindow is a call for a further window's link. An empty session: another than is open.
func NewWindow(session string, quick bool) Call {
	return Call{Window: true, Session: session, Quick: quick}
}

func texts(from [][]byte) []string {
	return lists.Map(from, func(b []byte) string { return string(b) })
}

func bytesOf(from []string) [][]byte {
	var out [][]byte
	for _, s := range from {
		out = append(out, []byte(s))
	}
	return out
}

// Streams are the input and output of a call that is carried out, and what
// interrupts it.
type Streams struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Signals <-chan os.Signal
}

// Numbers of signals on the wire, whatever the systems call them.
const (
	wireInterrupt = 1
	wireTerminate = 2
)

func signalOf(number int) (os.Signal, error) {
	switch number {
	case wireInterrupt:
		return os.Interrupt, nil
	case wireTerminate:
		return syscall.SIGTERM, nil
	}
	return nil, fmt.Errorf("there is no signal %d", number)
}

// checkHello answers whether a caller may be served.
func checkHello(f frame, version string) error {
	const op = "handover.hello"
	switch {
	case f.Kind != kindHello || f.Hello == nil:
		return chat.Errorf(chat.CodeInvalid, op, "The first frame is not a hello.")
	case f.Hello.Protocol != protocol || f.Hello.Version != version:
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is version %s, this one is %s; nothing was done.",
			version, f.Hello.Version).WithHint("close it and start again, or use the same version")
	}
	return nil
}
