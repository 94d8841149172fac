// Package ipc lets one start of the program (the client) be run by another
// process that already has the data open (the server; SPEC 4): a command with its
// arguments, input, output and interrupts, or a request to bring the window to the front.
//
// Guarantees:
//   - The socket is a Unix domain socket with mode 0600 in a private directory of
//     the user. Where the system identifies the peer, both sides refuse another
//     user. No network port is opened.
//   - Both ends have the same version. Another version is refused before anything is
//     done, and the refusal names both.
//   - A frame has at most maxFrame bytes, and the first one must arrive within
//     helloTimeout. Invalid bytes end only their own connection.
//   - Input is read only when the command requests it, so a command that reads no
//     input leaves it to other programs that share it.
//   - A client gets an exit code, or an error if the request has none. When a client
//     disconnects, its command gets SIGHUP.
//
// The protocol: JSON frames, each after its length in four bytes, big-endian. The
// client sends hello; the server answers welcome or refused. Then the server sends
// out, err, want (a number of bytes of input) and finally exit; the client sends
// in, end (of its input) and signal.
package ipc
