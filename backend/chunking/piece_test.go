package chunking

import (
	"testing"
	"unsafe"
)

// TestPiecesAreSmall: a text of 40 MB has two million pieces.
func TestPiecesAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(piece{}); size > 24 {
		t.Errorf("a piece takes %d bytes", size)
	}
}
