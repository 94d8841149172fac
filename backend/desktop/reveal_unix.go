//go:build !windows && !darwin

package desktop

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// busTimeout is how long a service on the session bus may take. One that has to be started first may need seconds.
const busTimeout = 5 * time.Second

// showInFileManager asks the file manager itself, which selects the file; if none is on the bus, the folder is
// opened.
func showInFileManager(path string) error {
	if bus, err := sessionBus(); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
		defer cancel()
		call := bus.Object("org.freedesktop.FileManager1", "/org/freedesktop/FileManager1").
			CallWithContext(ctx, "org.freedesktop.FileManager1.ShowItems", 0, []string{fileURI(path)}, "")
		if call.Err == nil {
			return nil
		}
	}
	folder := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		folder = filepath.Dir(path)
	}
	return launch("xdg-open", folder)
}

// fileURI returns the file URI of an absolute path, percent-encoded.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}
