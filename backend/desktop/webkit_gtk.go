//go:build linux && (dev || production)

package desktop

/*
#cgo pkg-config: gtk+-3.0
#cgo webkit2_41 pkg-config: webkit2gtk-4.1
#cgo !webkit2_41 pkg-config: webkit2gtk-4.0
#include <stddef.h>
#include <stdlib.h>
#include "webkit_gtk.h"
*/
import "C"

import (
	"os"
	"runtime/cgo"
	"time"
	"unsafe"

	"contextinfinity/backend/chat"
)

// setWebLanguages enables spell checking, and sets valid languages for the page: WebKit derives them from the
// locale's name, and "C.UTF-8" becomes one that no formatter knows.
func setWebLanguages() {
	spelling, preferred := webLanguages(os.Getenv)
	s, p := cStrings(spelling), cStrings(preferred)
	defer freeStrings(s)
	defer freeStrings(p)
	C.web_languages(&s[0], &p[0])
}

// cStrings is a NULL-terminated list.
func cStrings(list []string) []*C.char {
	out := make([]*C.char, len(list)+1)
	for i, s := range list {
		out[i] = C.CString(s)
	}
	return out
}

func freeStrings(list []*C.char) {
	for _, s := range list {
		C.free(unsafe.Pointer(s))
	}
}

// clipboardTime bounds the wait for the program that owns the clipboard.
const clipboardTime = 10 * time.Second

// ClipboardPicture returns the picture in the clipboard as PNG, nil if there is none. WebKitGTK does not pass pasted
// pictures to a page.
func ClipboardPicture() ([]byte, error) {
	if shown.Load() == nil {
		return nil, nil
	}
	answer := make(chan []byte, 1) // buffered, so that a late answer is garbage collected
	C.clipboard_picture(C.uintptr_t(cgo.NewHandle(answer)))
	select {
	case png := <-answer:
		return png, nil
	case <-time.After(clipboardTime):
		return nil, chat.Errorf(chat.CodeTimeout, "desktop.clipboard", "The program that holds the clipboard does not answer. Nothing was pasted.").WithHint("copy the picture again")
	}
}

//export clipboardAnswered
func clipboardAnswered(handle C.uintptr_t, data *C.char, size C.size_t) {
	h := cgo.Handle(handle)
	defer h.Delete()
	var png []byte
	switch {
	case size > maxPicture: // too large for any message: only the size is returned
		png = make([]byte, maxPicture+1)
	case size > 0:
		png = C.GoBytes(unsafe.Pointer(data), C.int(size))
	}
	h.Value().(chan []byte) <- png
}

// maxPicture limits what is copied from the clipboard, in bytes.
const maxPicture = 64 << 20
