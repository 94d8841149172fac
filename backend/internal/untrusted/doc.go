// Package untrusted makes text that anybody may have written safe to be in a frame
// of a prompt: recalled passages, summaries, attached documents (SPEC 2.8, 19).
//
// Visible leaves nothing in a text that a reader would not see. Document and Memory
// then make inert, and leave readable, whatever could close the frame, pass for one of
// the program's own frames or lines, or be read as a control token by a server with a
// chat template. The package changes what is sent, never what is stored.
package untrusted
