package ipc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Request is a start of the program that another process is asked to run.
type Request struct {
	// Args are the command line arguments as bytes, because a JSON string would change anything that is not UTF-8.
	// Empty: the window is brought to the front.
	Args [][]byte `json:"args"`
	// Files are the absolute paths of the files that the window opens when it comes to the front. With NewChat it
	// starts a new conversation.
	Files   [][]byte `json:"files,omitempty"`
	NewChat bool     `json:"new_chat,omitempty"`
	// Window: the client is another window.
	Window bool `json:"window,omitempty"`
	// Quick: the window is the small one for a quick question. There is at most one.
	Quick bool `json:"quick,omitempty"`
	// Session is the session that the window shows.
	Session string `json:"session,omitempty"`
	// Dir is the directory that relative paths refer to.
	Dir string `json:"dir"`
	// Config is the configuration file that the client uses.
	Config string `json:"config"`
	// Terminals describes which of the client's streams are terminals.
	Terminals Terminals `json:"terminals"`
}

// Terminals describes which of the client's streams are terminals, and which of those show colours.
type Terminals struct {
	In       bool `json:"in"`
	Out      bool `json:"out"`
	Err      bool `json:"err"`
	OutColor bool `json:"out_color"`
	ErrColor bool `json:"err_color"`
}

// ArgStrings returns the arguments as strings.
func (c Request) ArgStrings() []string { return toStrings(c.Args) }

// Paths returns the paths of the files for the window.
func (c Request) Paths() []string { return toStrings(c.Files) }

// NewRequest returns a request with these arguments.
func NewRequest(args []string) Request { return Request{Args: toBytes(args)} }

// ToFront returns a request that brings the window to the front, with files for it.
func ToFront(files []string, newChat bool) Request {
	return Request{Files: toBytes(files), NewChat: newChat}
}

// NewWindow returns a request for the link of another window. If session is empty, the window shows a session that no
// other window shows.
func NewWindow(session string, quick bool) Request {
	return Request{Window: true, Session: session, Quick: quick}
}

func toStrings(from [][]byte) []string {
	return lists.Map(from, func(b []byte) string { return string(b) })
}

func toBytes(from []string) [][]byte {
	var out [][]byte
	for _, s := range from {
		out = append(out, []byte(s))
	}
	return out
}

// Streams are the input, output and signals of a running request.
type Streams struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Signals <-chan os.Signal
}

// Numbers of signals in the protocol, independent of the system.
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

// checkHello returns the request of a hello, or an error if the client cannot be served.
func checkHello(f frame, version string) (Request, error) {
	const op = "ipc.hello"
	var h hello
	switch {
	case f.Kind != kindHello || json.Unmarshal(f.Data, &h) != nil:
		return h.Request, chat.Errorf(chat.CodeInvalid, op, "The first frame is not a hello.")
	case h.Protocol != protocol || h.Version != version:
		return h.Request, chat.Errorf(chat.CodeConflict, op, "The program that has this data open is version %s, this one is %s; nothing was done.",
			version, h.Version).WithHint("close it and start again, or use the same version")
	}
	return h.Request, nil
}
