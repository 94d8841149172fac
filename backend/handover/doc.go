// Package handover lets one start of the program be carried out by another that
// runs already and holds the data (SPEC 4): a verb with its arguments, its input
// and output and its interrupts, or the request to come to the front.
//
// Guarantees:
//   - The socket is a Unix domain socket in a directory of the user's own, mode
//     0600; where the system tells who is at the other end, another user is refused
//     on both sides. No network port is opened.
//   - Both ends are the same version: another one is refused before anything is
//     done, and the refusal names both.
//   - A frame is at most maxFrame bytes, the first one must come within helloTime,
//     and bytes that are none end their connection alone.
//   - Input is read only when the verb asks for it: a verb that reads nothing takes
//     nothing from whoever else shares that input.
//   - A caller gets an exit code, or an error that says that there will be none.
//     A caller that goes away is a hang-up for its verb.
//
// The protocol: frames of JSON behind their length in four bytes, big-endian. The
// caller sends hello; the holder answers welcome or refused. Then the holder sends
// out, err, want (as many bytes of input as that) and at last exit; the caller
// sends in, end (of its input) and signal.
package handover
