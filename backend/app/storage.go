package app

import (
	"context"
	"os"
	"path/filepath"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
)

// dataFolder is the data directory as the window's storage page uses it.
type dataFolder struct {
	services.Setup
	*store.Archive
	dir  string
	app  *app   // nil if the data could not be opened
	flag string // --data-dir
}

func newDataFolder(s services.Setup, a *app, flag string) dataFolder {
	return dataFolder{s, s.Archive(), s.Config.Config().DataDir, a, flag}
}

// partWords are the label and the description of each part of the data directory.
var partWords = map[string][2]string{
	"database": {"Sessions", "All sessions, their memory and its index."},
	"journals": {"Journals", "The text of answers that are still arriving."},
	"backups":  {"Backups", "Copies of everything, made daily, before upgrades and restores, and by hand."},
	"aside":    {"Quarantined", "Files that a restore replaced but could not back up, remaining files of a lost history, or an unused configuration."},
	"other":    {"Other", "The lock, logs, and files that were dragged out."},
}

// View implements api.DataFolder.
func (d dataFolder) View(ctx context.Context) (api.StorageView, error) {
	v := api.StorageView{DataDir: d.dir, Config: d.Config.Path(), Free: d.Free(), Parts: []api.StoragePart{}, Movable: true}
	parts, err := d.Parts()
	if err != nil {
		return v, err
	}
	for _, p := range parts {
		v.Bytes += p.Bytes
		words := partWords[p.Name]
		v.Parts = append(v.Parts, api.StoragePart{Name: p.Name, Label: words[0], About: words[1], Bytes: p.Bytes, Files: p.Files})
	}
	v.Unmovable = d.unmovable()
	v.Movable = v.Unmovable == ""
	if d.app != nil {
		st, err := d.app.Store.Stats(ctx)
		if err != nil {
			return v, err
		}
		v.Sessions, v.Turns = st.Sessions, st.Turns
	}
	return v, nil
}

// unmovable returns why the location cannot be changed; empty if it can.
func (d dataFolder) unmovable() string {
	switch {
	case d.flag != "":
		return "The program was started with --data-dir, which sets the location."
	case d.Config.Err() != nil:
		return "The configuration has an error, so the new location could not be written to it."
	}
	return ""
}

// Backup implements api.DataFolder.
func (d dataFolder) Backup(ctx context.Context, path string) (chat.Backup, error) {
	if path == "" {
		path = filepath.Join(d.dir, store.BackupDir)
		if err := store.MakeDir(path); err != nil {
			return chat.Backup{}, err
		}
	}
	return d.Archive.Backup(ctx, path)
}

// PlanMove implements api.DataFolder.
func (d dataFolder) PlanMove(to string) (api.MovePreview, error) {
	p, err := d.Archive.PlanMove(to)
	v := api.MovePreview(p)
	if reason := d.unmovable(); reason != "" {
		v.Reason = reason
	}
	return v, err
}

// RestartToRestore implements api.DataFolder.
func (d dataFolder) RestartToRestore(path string) error {
	if _, err := os.Stat(path); err != nil && filepath.IsAbs(path) {
		return chat.WrapError(chat.CodeNotFound, "restore.begin", err, "There is no file %s; nothing was changed.", path)
	}
	return d.restart(store.PendingOperation{Do: store.PendingRestore, Path: path})
}

// RestartToMove implements api.DataFolder.
func (d dataFolder) RestartToMove(to string) error {
	return d.restart(store.PendingOperation{Do: store.PendingMove, Path: to})
}

func (d dataFolder) restart(op store.PendingOperation) error {
	if err := d.SavePending(op); err != nil {
		return err
	}
	d.Restart()
	return nil
}

// Restart implements api.DataFolder.
func (d dataFolder) Restart() { restartWith(handedOver()) }

func pickFolder() (string, error) { return desktop.PickFolder("Choose a folder", "") }
