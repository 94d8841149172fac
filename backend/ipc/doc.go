// Package ipc lets one start of the program (the client) be served by another process that already has the data open
// (the server; SPEC 4): a command with its arguments, input, output and interrupts, a request to bring the window to the
// front, or another window, which calls the services there (docs/adr/0015).
//
// Guarantees:
//   - The socket is a Unix domain socket with mode 0600 in a private directory of the user. Where the system identifies
//     the peer, both sides refuse another user. No network port is opened.
//   - Both ends have the same version. Another version is refused before anything is done, and the refusal names both.
//   - A frame has a limit in bytes (limits), and the announced size is not trusted. The first one must arrive within
//     helloTimeout. Invalid bytes end only their own connection.
//   - Input is read only when the command requests it, so a command that reads no input leaves it to other programs
//     that share it.
//   - A client gets an exit code, or an error if the request has none. When a client disconnects, its command gets
//     SIGHUP.
//   - Calls run concurrently, at most maxCalls at a time; further calls wait. Each call gets one answer: a result or an
//     error, which the other end encodes. When a connection ends, every waiting call returns ErrEnded.
//   - Events are sent in order. A slow window does not block the sender of events: when its queue is full, the
//     connection ends, and the window starts again from the stored state. A slow reader of a command's output blocks
//     the command.
//
// The protocol: JSON frames, each after its length in four bytes, big-endian. The client sends hello, the only place
// where it can prove what it is; the server answers welcome or refused. After that both ends are links (Link), which
// call each other and send events. A command's link has the events out, err and exit from the server, signal from the
// client, and the server's call read, which returns the next piece of input.
package ipc
