package app

import (
	"context"
	"os"

	"github.com/adrg/xdg"

	"contextinfinity/backend/chat"
)

// exportFolder is the key of the setting with the last export folder.
const exportFolder = "export.folder"

// exportFolder returns the folder of the last export, otherwise the user's documents, otherwise the home directory.
func (a *app) exportFolder(ctx context.Context) (string, error) {
	last, _, err := a.Store.Setting(ctx, exportFolder)
	if err != nil {
		return "", err
	}
	for _, dir := range []string{last, xdg.UserDirs.Documents, xdg.Home} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", chat.Errorf(chat.CodeNotFound, "export.folder", "There is no home folder to write to; nothing was written.").WithHint("name a folder")
}

// exportedTo remembers the folder of an export. An error is only logged, because the export itself succeeded.
func (a *app) exportedTo(ctx context.Context, folder string) {
	if a.readOnly {
		return
	}
	if err := a.Store.PutSetting(ctx, exportFolder, folder); err != nil {
		a.Log.Warn("the folder of the export could not be remembered", "err", err)
	}
}
