package documents

import (
	"bytes"
	"unicode/utf8"
)

// Looks is the kind of file suggested by its first bytes. Reading the file may show that it is another.
type Looks int

const (
	LooksBinary   Looks = iota
	LooksEncoded        // text in an unknown encoding
	LooksOld            // an office document from before 2007, or one with a password
	LooksReadable       // text, a PDF or an office document
)

// Peek reports whether a file can probably be read, judging by its first bytes. complete: head is the entire file.
func Peek(head []byte, complete bool) Looks {
	if isPDF(head) || looksOffice(head) {
		return LooksReadable
	}
	if isCompound(head) {
		return LooksOld
	}
	if bytes.HasPrefix(head, markUTF16LE) || bytes.HasPrefix(head, markUTF16BE) {
		if !complete {
			head = head[:len(head)&^1]
		}
		if _, err := decode("", head); err != nil {
			return LooksBinary
		}
		return LooksReadable
	}
	if binaryLooking(head) {
		return LooksBinary
	}
	for cut := 0; !complete && cut < utf8.UTFMax-1 && len(head) > 0 && !utf8.Valid(head); cut++ { // a character may be cut
		head = head[:len(head)-1]
	}
	if !utf8.Valid(head) {
		return LooksEncoded
	}
	return LooksReadable
}
