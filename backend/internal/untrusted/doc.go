// Package untrusted makes untrusted text safe for a frame of a prompt: recalled passages, summaries, attached
// documents (SPEC 2.8, 19).
//
// Visible removes everything from a text that a reader would not see. Document and Memory then escape, in a readable
// way, everything that could close the frame, imitate the program's own frames or lines, or be read as a control token
// by a server with a chat template. The package changes what is sent, never what is stored.
package untrusted
