package api

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tasks"
)

// DataFolder is the data directory as a whole.
type DataFolder interface {
	View(context.Context) (StorageView, error)
	Backups(ctx context.Context, check bool) ([]chat.Backup, error)
	// Backup writes a verified copy; an empty path means a dated name in the folder of backups.
	Backup(ctx context.Context, path string) (chat.Backup, error)
	PreviewRestore(ctx context.Context, path string) (chat.Restoration, error)
	PlanMove(to string) (MovePreview, error)
	// RestartToRestore and RestartToMove record an operation for the next start and restart the program.
	RestartToRestore(path string) error
	RestartToMove(to string) error
	Restart()
	// Lost reports whether the database is missing, so that StartFresh can begin a new one.
	Lost(context.Context) bool
	// StartFresh moves the remaining files of a lost history into a folder, and returns its path.
	StartFresh(context.Context) (string, error)
	// DamagedLog reports whether the write-ahead log is damaged, so that DropLog can drop it.
	DamagedLog() bool
	// DropLog drops the unreadable changes of a damaged log. It first copies the damaged files into a folder, and
	// returns its path.
	DropLog(context.Context) (string, error)
}

// Storage shows and moves the data directory, and handles backups and permanent deletions.
type Storage struct{ c *Core }

// NewStorage returns the service. An interrupted backup can be started again.
func NewStorage(c *Core) *Storage {
	s := &Storage{c}
	if c.Tasks != nil {
		c.Tasks.SetResumer(tasks.Backup, func(input json.RawMessage) (tasks.Run, error) {
			var path string
			if err := json.Unmarshal(input, &path); err != nil {
				return nil, chat.WrapError(chat.CodeCorrupt, "backup.resume", err, "The location of the backup is no longer known.").WithHint("make a new one")
			}
			return s.backingUp(path), nil
		})
	}
	return s
}

// Storage returns the parts of the data directory with their sizes.
func (s *Storage) Storage() (StorageView, error) {
	if err := s.c.ready(); err != nil {
		return StorageView{}, err
	}
	return s.c.Data.View(s.c.ctx())
}

// Backups lists the copies in the data directory, newest first. With check, each one is read and verified.
func (s *Storage) Backups(check bool) ([]BackupView, error) {
	list, err := s.c.Data.Backups(s.c.ctx(), check)
	return lists.Map(list, backupView), err
}

func backupView(b chat.Backup) BackupView {
	return BackupView{
		Path: b.Path, Name: filepath.Base(b.Path), Kind: b.Kind, At: b.At.UnixMilli(), Bytes: b.Bytes,
		Sessions: b.Counts["sessions"], Turns: b.Counts["turns"], Checked: b.Checked, Problem: b.Problem, Problems: b.Problems,
	}
}

// BackUp writes a verified copy of everything. An empty path means a dated name in the folder of backups.
func (s *Storage) BackUp(path string) (TaskView, error) {
	if err := s.c.ready(); err != nil {
		return TaskView{}, err
	}
	if path != "" && !filepath.IsAbs(path) {
		return TaskView{}, chat.Errorf(chat.CodeInvalid, "backup.begin", "The backup needs a full path.")
	}
	input, err := json.Marshal(path)
	if err != nil {
		return TaskView{}, err
	}
	title := chat.Say("Back up")
	if path != "" {
		title = chat.Say("Back up to %s", filepath.Base(path))
	}
	return viewOf(s.c.Tasks.Start(tasks.Spec{Kind: tasks.Backup, Title: title, Input: input}, s.backingUp(path)))
}

func (s *Storage) backingUp(path string) tasks.Run {
	return func(ctx context.Context, p *tasks.Progress) (tasks.Result, error) {
		p.Detail("copying, and reading the copy back")
		b, err := s.c.Data.Backup(ctx, path)
		return tasks.Result{Path: b.Path}, err
	}
}

// RestorePreview checks a backup and reports what restoring it would replace.
func (s *Storage) RestorePreview(path string) (RestorePreview, error) {
	r, err := s.c.Data.PreviewRestore(s.c.ctx(), path)
	if err != nil {
		return RestorePreview{}, err
	}
	v := RestorePreview{
		Backup: BackupView{Path: r.Source, Name: filepath.Base(r.Source), Kind: r.Kind, Sessions: r.Backup.Sessions,
			Turns: r.Backup.Turns, Checked: true, Problem: r.Backup.Problem},
		Sessions: r.Present.Sessions, Turns: r.Present.Turns, NewestTurn: milliseconds(r.Present.NewestTurn),
		BackupNewest: milliseconds(r.Backup.NewestTurn), Problems: r.Problems, Findings: lists.Map(r.Findings, findingText), SchemaUpgrade: r.Backup.Schema < r.Schema,
		Undone: lists.Map(r.Undone, receiptView),
	}
	v.Backup.At = milliseconds(r.TakenAt)
	return v, nil
}

// milliseconds returns a time as Unix milliseconds; 0 if it is nil.
func milliseconds(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMilli()
}

// Restore restores a backup: the program ends, restarts, and restores it before opening anything.
func (s *Storage) Restore(path string) error {
	const op = "restore.begin"
	if s.c.Fatal == nil {
		if err := s.c.idle(op); err != nil {
			return err
		}
	}
	return s.c.Data.RestartToRestore(path)
}

// StartFresh moves the remaining files of a lost history, including its backups, into a folder, and returns its path.
// The next start begins an empty history.
//
// Errors: CodeConflict if the data is open, and those of store.Archive.StartFresh.
func (s *Storage) StartFresh() (string, error) {
	if s.c.Fatal == nil {
		return "", chat.Errorf(chat.CodeConflict, "storage.fresh", "The conversations are open, so no empty history was started; nothing was changed.")
	}
	return s.c.Data.StartFresh(s.c.ctx())
}

// DropLog makes data with a damaged write-ahead log writable again, without the unreadable changes in the log. The
// damaged files are kept in a folder, whose path it returns.
//
// Errors: CodeConflict if the data is open, and those of store.Archive.DropLog.
func (s *Storage) DropLog() (string, error) {
	if s.c.Fatal == nil {
		return "", chat.Errorf(chat.CodeConflict, "storage.drop_log", "The conversations are open, so their log is not damaged; nothing was changed.")
	}
	return s.c.Data.DropLog(s.c.ctx())
}

// Reopen restarts the program, which tries to open the data again.
//
// Errors: CodeConflict if the data is open.
func (s *Storage) Reopen() error {
	if s.c.Fatal == nil {
		return chat.Errorf(chat.CodeConflict, "storage.reopen", "The conversations are open already.")
	}
	s.c.Data.Restart()
	return nil
}

// idle returns an error while a task is running that a restart would interrupt.
func (c *Core) idle(op string) error {
	if running, waiting := c.Tasks.Open(); running+waiting > 0 {
		return chat.Errorf(chat.CodeConflict, op, "Tasks are still running, and a restart would interrupt them; nothing was changed.").
			WithHint("wait for them, or cancel them")
	}
	return nil
}

// PickFolder opens the system's dialog for choosing a folder; empty: the user closed it.
func (s *Storage) PickFolder() (string, error) {
	if s.c.Shell.PickFolder == nil {
		return "", noShell("storage.pick_folder")
	}
	return s.c.Shell.PickFolder()
}

// MovePreview checks whether the data can be moved to a folder.
func (s *Storage) MovePreview(to string) (MovePreview, error) {
	if err := s.c.ready(); err != nil {
		return MovePreview{}, err
	}
	return s.c.Data.PlanMove(to)
}

// Move moves the data to a folder: the program ends, restarts, copies and compares everything while nothing is open,
// and continues there. The old folder stays until it is deleted by hand.
func (s *Storage) Move(to string) (TaskView, error) {
	const op = "move.begin"
	p, err := s.MovePreview(to)
	if err == nil && p.Reason != "" {
		err = chat.Errorf(chat.CodeInvalid, op, "The data cannot be moved there: %s", p.Reason).WithHint("nothing was moved")
	}
	if err == nil {
		err = s.c.idle(op)
	}
	if err != nil {
		return TaskView{}, err
	}
	return viewOf(s.c.Tasks.Start(tasks.Spec{Kind: tasks.Move, Title: chat.Say("Move everything to %s", p.To), Firm: true},
		func(ctx context.Context, _ *tasks.Progress) (tasks.Result, error) {
			if err := s.c.Data.RestartToMove(p.To); err != nil {
				return tasks.Result{}, err
			}
			<-ctx.Done() // the program is ending; the next start does the move
			return tasks.Result{}, ctx.Err()
		}))
}

// PreviewDeletion describes what a permanent deletion of a session or turn (kind) with the named copies would remove.
// copies are identifiers of sessions that an earlier preview named.
func (s *Storage) PreviewDeletion(kind, id string, copies []string) (DeletionPreview, error) {
	if err := s.c.ready(); err != nil {
		return DeletionPreview{}, err
	}
	p, err := s.c.Deletion.PreviewDeletion(s.c.ctx(), kind, id, sessionIDs(copies)...)
	if err != nil {
		return DeletionPreview{}, err
	}
	return DeletionPreview{
		Kind: p.Kind, Title: p.Title, TurnSeq: p.Seq, Confirm: chat.ConfirmWord, Parts: deletedParts(p.Deleted), Sessions: append([]string{}, p.Sessions...),
		Backups: append([]string{}, p.Backups...), Copies: copyViews(p.Copies), Included: copyViews(p.Included), Reason: p.Reason,
		Everywhere: p.Everywhere,
	}, nil
}

// Delete permanently deletes a session or the content of a turn, with the copies that the preview included, and no
// others. confirm is the text that DeletionPreview asks the user to type.
func (s *Storage) Delete(kind, id, confirm string, copies []string) (ReceiptView, error) {
	const op = "storage.delete"
	if err := s.c.ready(); err != nil {
		return ReceiptView{}, err
	}
	receipt, err := s.c.Deletion.Delete(s.c.ctx(), kind, id, func(chat.DeletionPreview) error {
		if !chat.Confirms(confirm) {
			return chat.Errorf(chat.CodeInvalid, op, "The text typed is not %q. Nothing was deleted.", chat.ConfirmWord)
		}
		return nil
	}, sessionIDs(copies)...)
	if err != nil {
		return ReceiptView{}, err
	}
	return receiptView(receipt), nil
}

// Receipts returns the receipts of all permanent deletions, newest first.
func (s *Storage) Receipts() ([]ReceiptView, error) {
	if err := s.c.ready(); err != nil {
		return nil, err
	}
	list, err := s.c.Deletion.Receipts(s.c.ctx())
	return lists.Map(list, receiptView), err
}

func receiptView(r chat.Receipt) ReceiptView {
	return ReceiptView{ID: r.ID, Kind: r.Kind, Subject: r.Subject, At: r.At.UnixMilli(), Parts: deletedParts(r.Deleted), Backups: append([]string{}, r.Backups...), Copies: copyViews(r.Copies), Included: lists.Map(r.Included, func(x chat.Receipt) string { return x.ID })}
}

func copyViews(list []chat.Copy) []CopyView {
	return lists.Map(list, func(x chat.Copy) CopyView {
		return CopyView{SessionID: string(x.Session), Title: chat.BoundTitle(x.Title), Gone: x.Gone, Turns: x.Turns, Own: x.Own}
	})
}

// storeLabels are the labels of tables.
var storeLabels = map[string]string{
	"sessions": "Session", "branches": "Branches", "turns": "Messages and answers", "steps": "Calls to a model", "states": "State summaries",
	"summaries": "Range summaries", "chunks": "Memories", "units": "Text index entries", "unit_embeddings": "Vectors",
	"retrieved": "Records of retrieved memory", "requests": "Stored requests", "manifests": "Records of what was sent",
	"request_links": "Links between requests", "manifest_links": "Links between records of what was sent", "events": "Change log entries", "snapshots": "Change log snapshots",
	"pins": "Pinned facts", "chunk_summaries": "Summaries of passages", "pin_suggestions": "Suggested pins", "pin_orders": "Order of pinned facts", "drafts": "Drafts", "queued_messages": "Queued messages", "files": "Documents", "blobs": "Images",
	"import_keys": "Import markers", "jobs": "Background jobs", "metrics": "Measurements", "turn_tokens": "Token counts",
	"settings": "Settings and tasks that mention it", "calibrations": "Token count calibrations", "tool_batches": "Batches of tool calls", "tool_calls": "Tool calls",
	"tool_results": "Tool results", "tool_recalled": "Records of memory lookups by models", "tool_permissions": "Decisions about tools",
	"mcp_grants": "Permissions of other programs", "mcp_accesses": "Queries from other programs", "mcp_shown": "Entries of the access record", "projects": "Project", "project_facts": "Pinned facts of the project", "project_files": "Files of the project", "mcp_notes": "Keys of notes",
	"files:streams": "Journals of answers", "files:drags": "Files that were dragged out",
}

func deletedParts(list []chat.DeletedCount) []DeletedPart {
	out := make([]DeletedPart, 0, len(list))
	for _, e := range list {
		label := storeLabels[e.Store]
		label = cmp.Or(label, e.Store)
		out = append(out, DeletedPart{Store: e.Store, Label: label, Count: e.Count})
	}
	return out
}
