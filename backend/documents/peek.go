package documents

import (
	"bytes"
	"unicode/utf8"
)

// Looks says what a file looks like by its first bytes; whole: they are all of it.
// Reading it may still find otherwise.
type Looks int

const (
	LooksBinary   Looks = iota
	LooksEncoded        // text in an encoding that it does not name
	LooksOld            // an office document from before 2007, or one with a password
	LooksReadable       // text, a PDF or an office document
)

// Peek answers whether a file could be read, from its first bytes.
func Peek(head []byte, whole bool) Looks {
	if isPDF(head) || looksOffice(head) {
		return LooksReadable
	}
	if isCompound(head) {
		return LooksOld
	}
	if bytes.HasPrefix(head, markUTF16LE) || bytes.HasPrefix(head, markUTF16BE) {
		if !whole {
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
	for cut := 0; !whole && cut < utf8.UTFMax-1 && len(head) > 0 && !utf8.Valid(head); cut++ { // a character may be cut
		head = head[:len(head)-1]
	}
	if !utf8.Valid(head) {
		return LooksEncoded
	}
	return LooksReadable
}
