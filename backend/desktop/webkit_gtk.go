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

// stayOnPage refuses every navigation away from the program's page, whatever started it.
func stayOnPage() { C.web_stay() }

// cStrings returns a NULL-terminated list.
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
	return clipboard(func(handle C.uintptr_t) { C.clipboard_picture(handle) })
}

// ClipboardFiles returns the absolute paths of the files in the clipboard. WebKitGTK does not pass them to a page, and
// hides the text that comes with them.
func ClipboardFiles() ([]string, error) {
	list, err := clipboard(func(handle C.uintptr_t) { C.clipboard_files(handle) })
	if err != nil {
		return nil, err
	}
	if len(list) > maxURIs {
		return nil, chat.Errorf(chat.CodeInvalid, "desktop.clipboard", "The list of files in the clipboard is longer than %d MB, the most that is read. Nothing was pasted.", maxURIs>>20).WithHint("copy fewer files, or the folder that contains them")
	}
	return filesOf(string(list)), nil
}

// clipboard returns the answer to a request; nil without a window.
func clipboard(request func(handle C.uintptr_t)) ([]byte, error) {
	if shown.Load() == nil {
		return nil, nil
	}
	answer := make(chan []byte, 1) // buffered, so that a late answer is garbage collected
	request(C.uintptr_t(cgo.NewHandle(answer)))
	select {
	case data := <-answer:
		return data, nil
	case <-time.After(clipboardTime):
		return nil, chat.Errorf(chat.CodeTimeout, "desktop.clipboard", "The program that owns the clipboard does not respond. Nothing was pasted.").WithHint("copy it again")
	}
}

//export clipboardAnswered
func clipboardAnswered(handle C.uintptr_t, data *C.char, size C.size_t) {
	h := cgo.Handle(handle)
	defer h.Delete()
	var copied []byte
	switch {
	case size > maxCopied: // too large for any message: only the size is returned
		copied = make([]byte, maxCopied+1)
	case size > 0:
		copied = C.GoBytes(unsafe.Pointer(data), C.int(size))
	}
	h.Value().(chan []byte) <- copied
}

const (
	// maxCopied limits what is copied from the clipboard, in bytes.
	maxCopied = 64 << 20
	// maxURIs limits a list of files, in bytes.
	maxURIs = 4 << 20
)
