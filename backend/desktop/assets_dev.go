//go:build dev

package desktop

import (
	"io"
	"net"
	"net/http"
	"os"

	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
)

// blankWindow hides the page in the program's own window. Browser tests set it: they show the page in a browser, and
// a second page of the same program would open or create a session at every start.
const blankWindow = "CONTEXTINFINITY_BLANK_WINDOW"

// Middleware returns an empty document for the window's own requests if the environment requests it. Browsers
// use the dev server's address with a port, which the window's scheme does not have.
func Middleware() assetserver.Middleware {
	if os.Getenv(blankWindow) == "" {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, _, err := net.SplitHostPort(r.Host); err == nil {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><html><head><title>ContextInfinity</title></head><body></body></html>")
		})
	}
}
