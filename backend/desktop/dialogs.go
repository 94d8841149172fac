package desktop

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Filter names a file type for a dialog; patterns are separated by ";", as in "*.json;*.zip".
type Filter struct{ Name, Patterns string }

// PickFiles lets the user choose files to open. An empty result means that the user cancelled.
//
// Errors of the three dialogs: CodeUnavailable without a window.
func PickFiles(title string, filters ...Filter) ([]string, error) {
	return ask("desktop.pick_files", func(ctx context.Context) ([]string, error) {
		return runtime.OpenMultipleFilesDialog(ctx, runtime.OpenDialogOptions{Title: title, Filters: wailsFilters(filters)})
	})
}

// PickTarget lets the user choose where to save. suggested is a name, or a path whose folder is shown first. An empty
// result means that the user cancelled. The system's dialog asks before an existing file is chosen.
func PickTarget(title, suggested string, filters ...Filter) (string, error) {
	return ask("desktop.pick_target", func(ctx context.Context) (string, error) {
		return runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{
			Title: title, DefaultDirectory: folderOf(suggested), DefaultFilename: filepath.Base(suggested),
			Filters: wailsFilters(filters), CanCreateDirectories: true,
		})
	})
}

// PickFolder lets the user choose a folder, starting in initial. An empty result means that the user cancelled.
func PickFolder(title, initial string) (string, error) {
	return ask("desktop.pick_folder", func(ctx context.Context) (string, error) {
		return runtime.OpenDirectoryDialog(ctx, runtime.OpenDialogOptions{
			Title: title, DefaultDirectory: folderOf(filepath.Join(initial, "x")), CanCreateDirectories: true,
		})
	})
}

// dialogOpen is locked while a dialog is open.
var dialogOpen sync.Mutex

// ask runs one dialog at a time; the window is blocked meanwhile.
func ask[T any](op string, dialog func(context.Context) (T, error)) (T, error) {
	var none T
	l := shown.Load()
	if l == nil {
		return none, chat.Errorf(chat.CodeUnavailable, op, "There is no window to show a dialog in.").WithHint("type the path instead")
	}
	if !dialogOpen.TryLock() {
		return none, chat.Errorf(chat.CodeConflict, op, "Another dialog is open.").WithHint("close it first")
	}
	defer dialogOpen.Unlock()
	answer, err := dialog(l.ctx)
	if err != nil {
		return none, chat.WrapError(chat.CodeUnavailable, op, err, "The system's dialog could not be opened.").WithHint("type the path instead")
	}
	return answer, nil
}

func wailsFilters(filters []Filter) []runtime.FileFilter {
	return lists.Map(filters, func(f Filter) runtime.FileFilter { return runtime.FileFilter{DisplayName: f.Name, Pattern: f.Patterns} })
}

// folderOf returns the folder of a path, or "" if it does not exist, because some dialogs fail then.
func folderOf(path string) string {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
