package api

import (
	"encoding/json"
	"net/http"

	"contextinfinity/backend/chat"
)

// dragPath is the URL path at which the page requests the file for a drag (frontend/src/lib/backend/wails.ts).
const dragPath = "/drag"

// maxDragRequest limits the request, in bytes. It contains only a few identifiers.
const maxDragRequest = 16 << 10

// DragHandler handles the page's request for the file of a drag out of the window: it writes the file and responds with
// its path. It is not a bound method, because the file must be complete before the drag begins and must not be written
// earlier, and at the start of a drag a page can wait for a request, but not for a bound method.
func DragHandler(write func(ExportRequest) (DraggedFile, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != dragPath || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		var request ExportRequest
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDragRequest)).Decode(&request); err != nil {
			http.Error(w, "The request cannot be read.", http.StatusBadRequest)
			return
		}
		file, err := write(request)
		if err != nil {
			http.Error(w, errorView(chat.AsError(err)).Message.String(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(file) // fails only if the page was closed, which also ended the drag
	})
}

// DragFile writes the file for a drag.
func (c *Core) DragFile(request ExportRequest) (DraggedFile, error) {
	if err := c.ready(); err != nil {
		return DraggedFile{}, err
	}
	return c.Exports.DragFile(c.ctx(), request)
}
