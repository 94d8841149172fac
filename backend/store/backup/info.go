package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// countedTables are the tables whose numbers of rows a backup records and compares with the data. Jobs and drafts are
// left out, because they change at any time.
var countedTables = []string{"sessions", "branches", "turns", "steps", "states", "pins", "events", "chunks", "units", "files"}

// countRecords counts the rows of those countedTables that exist.
func countRecords(db *gorm.DB) (map[string]int64, error) {
	tables, err := sqlite.All[string](db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, table := range countedTables {
		if !slices.Contains(tables, table) {
			continue
		}
		n, err := sqlite.All[int64](db, `SELECT count(*) FROM `+table)
		if err != nil {
			return nil, err
		}
		counts[table] = n[0]
	}
	return counts, nil
}

// fingerprintOf returns a hash that changes with everything a user would miss: ledgers, drafts, queued messages,
// documents, projects, assistants, saved prompts, permissions, and the files that a backup holds, which are the
// configuration and the journals of running answers. Derived data, jobs and the table of settings are left out.
func fingerprintOf(db *gorm.DB, files map[string][]byte) (string, error) {
	row, err := sqlite.One[struct{ Value string }](db, "fingerprint", "", `SELECT
		(SELECT max(version_id) FROM `+schema.VersionTable+`) || '|' ||
		(SELECT count(*) || '/' || coalesce(max(rowid), 0) FROM events) || '|' ||
		(SELECT count(*) || '/' || coalesce(max(updated_at), '') || '/' || coalesce(sum(length(message_json)), 0) FROM drafts) || '|' ||
		(SELECT count(*) || '/' || coalesce(max(rowid), 0) FROM files) AS value`)
	if err != nil {
		return "", err
	}
	later, err := laterFingerprints(db)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%q\n", row.Value, later)
	for _, name := range sortedNames(files) {
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(files[name]))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// writeInfo writes the extra tables of a backup. It replaces existing ones: if a backup was put in place of the database
// by hand, the data may still have that backup's extra tables.
func writeInfo(db *gorm.DB, b chat.Backup, fingerprint string, files map[string][]byte) error {
	return db.Transaction(func(t *gorm.DB) error {
		for _, statement := range []string{
			`DROP TABLE IF EXISTS ` + schema.InfoTable, `DROP TABLE IF EXISTS ` + schema.FilesTable,
			`CREATE TABLE ` + schema.InfoTable + ` (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT`,
			`CREATE TABLE ` + schema.FilesTable + ` (name TEXT PRIMARY KEY NOT NULL, sha256 BLOB NOT NULL, content BLOB NOT NULL) STRICT`,
		} {
			if err := t.Exec(statement).Error; err != nil {
				return err
			}
		}
		info := map[string]string{"kind": string(b.Kind), "at": chat.FormatTime(b.At), "fingerprint": fingerprint}
		for table, n := range b.Counts {
			info["count."+table] = sqlite.Itoa(n)
		}
		for key, value := range info {
			if err := t.Exec(`INSERT INTO `+schema.InfoTable+` VALUES (?, ?)`, key, value).Error; err != nil {
				return err
			}
		}
		for _, name := range sortedNames(files) {
			sum := sha256.Sum256(files[name])
			if err := t.Exec(`INSERT INTO `+schema.FilesTable+` VALUES (?, ?, ?)`, name, sum[:], append([]byte{}, files[name]...)).Error; err != nil {
				return err
			}
		}
		return hashInfo(t)
	})
}

const (
	// infoHash is the key of the hash that sumInfo returns.
	infoHash = "sha256"
	// hashedSince is the first schema whose backups store this hash.
	hashedSince = 18
)

// hashInfo stores the hash of a backup's extra tables, because verify does not check these tables.
func hashInfo(db *gorm.DB) error {
	sum, err := sumInfo(db)
	if err != nil {
		return err
	}
	return db.Exec(`INSERT OR REPLACE INTO `+schema.InfoTable+` VALUES (?, ?)`, infoHash, sum).Error
}

// sumInfo returns a hash of the definitions of the extra tables, the description without its own hash, and the names and
// hashes of the files.
func sumInfo(db *gorm.DB) (string, error) {
	rows, err := sqlite.All[struct{ Name, Value string }](db, `SELECT name, sql AS value FROM sqlite_schema WHERE name IN ? UNION ALL
		SELECT key, value FROM `+schema.InfoTable+` WHERE key <> ? UNION ALL
		SELECT name, hex(sha256) FROM `+schema.FilesTable+` ORDER BY 1, 2`, []string{schema.InfoTable, schema.FilesTable}, infoHash)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, r := range rows {
		fmt.Fprintf(sum, "%q %q\n", r.Name, r.Value)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// infoMatches reports whether the extra tables match their stored hash. A backup without a description, or of a schema
// before hashedSince without a hash, counts as matching, because there is nothing to compare.
func infoMatches(db *gorm.DB, version int64) (bool, error) {
	exists, err := schema.HasTable(db, schema.InfoTable)
	if err != nil || !exists {
		return true, err
	}
	stored, err := sqlite.All[string](db, `SELECT value FROM `+schema.InfoTable+` WHERE key = ?`, infoHash)
	if err != nil {
		return false, err
	}
	if len(stored) == 0 {
		return version < hashedSince, nil
	}
	sum, err := sumInfo(db)
	return sum == stored[0], err
}

// BackupFile is a file that a backup stores in an extra table: the configuration or a journal.
type BackupFile struct {
	Name    string
	SHA256  []byte `gorm:"column:sha256"`
	Content []byte
}

func (f BackupFile) isIntact() bool {
	sum := sha256.Sum256(f.Content)
	return string(sum[:]) == string(f.SHA256)
}

// FilesIn reads the files that a backup stores. A backup without a table of files has none.
func FilesIn(db *gorm.DB) ([]BackupFile, error) {
	exists, err := schema.HasTable(db, schema.FilesTable)
	if err != nil || !exists {
		return nil, err
	}
	return sqlite.All[BackupFile](db, `SELECT name, sha256, content FROM `+schema.FilesTable+` ORDER BY name`)
}

// damagedFile returns what is wrong with the first damaged file in a backup, or "".
func damagedFile(db *gorm.DB) (string, error) {
	files, err := FilesIn(db)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if !f.isIntact() {
			return "the file " + f.Name + " in it does not match its hash", nil
		}
	}
	return "", nil
}

// readInfo reads a backup's description into b, and returns its fingerprint. hasInfo is false if there is no description:
// an earlier version made the backup, or somebody copied the database by hand.
func readInfo(db *gorm.DB, b *chat.Backup) (fingerprint string, hasInfo bool, err error) {
	exists, err := schema.HasTable(db, schema.InfoTable)
	if err != nil || !exists {
		return "", false, err
	}
	rows, err := sqlite.All[struct{ Key, Value string }](db, `SELECT key, value FROM `+schema.InfoTable)
	if err != nil {
		return "", false, err
	}
	b.Counts = map[string]int64{}
	for _, r := range rows {
		table, isCount := strings.CutPrefix(r.Key, "count.")
		switch {
		case isCount:
			if b.Counts[table], err = strconv.ParseInt(r.Value, 10, 64); err != nil {
				return "", false, err
			}
		case r.Key == "kind":
			b.Kind = chat.BackupKind(r.Value)
		case r.Key == "at":
			if b.At, err = chat.ParseTime(r.Value); err != nil {
				return "", false, err
			}
		case r.Key == "fingerprint":
			fingerprint = r.Value
		case r.Key == infoProblems:
			if b.Problems, err = strconv.Atoi(r.Value); err != nil {
				return "", false, err
			}
		}
	}
	return fingerprint, true, nil
}

// backupStamp is the format of the time in a backup's name, in UTC.
const backupStamp = "20060102T150405.000"

// BackupName returns the name of a backup; label says why it was made.
func BackupName(label string, at time.Time) string {
	if label != "" {
		label += "-"
	}
	return "contextinfinity-" + label + at.Format(backupStamp) + ".db"
}

const (
	LabelDaily   = "daily"
	labelRestore = "before-restore"
)

var backupNames = regexp.MustCompile(`^contextinfinity-(?:(daily|before-restore|v[0-9]+)-)?([0-9]{8}T[0-9]{6}\.[0-9]{3})\.db$`)

// ParseName parses a backup's name. ok is false for other files.
func ParseName(name string) (kind chat.BackupKind, at time.Time, ok bool) {
	m := backupNames.FindStringSubmatch(name)
	if m == nil {
		return "", at, false
	}
	at, err := time.Parse(backupStamp, m[2])
	switch m[1] {
	case "":
		kind = chat.BackupByHand
	case LabelDaily:
		kind = chat.BackupDaily
	case labelRestore:
		kind = chat.BackupBeforeRestore
	default:
		kind = chat.BackupMigration
	}
	return kind, at, err == nil
}

// Backups lists the backups in the data directory's backup folder and those that were written elsewhere, newest first.
// What an interrupted backup left is listed too, with a Problem. With check, each is read completely and its data is
// verified in a temporary copy, as in a restore. Problem says why a backup cannot be restored, Findings what verify found
// in it.
func (a *Archive) Backups(ctx context.Context, check bool) ([]chat.Backup, error) {
	paths, err := a.backupFiles()
	if err != nil {
		return nil, sqlite.MapError("store.backups", err)
	}
	var list []chat.Backup
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, sqlite.MapError("store.backups", err)
		}
		b := chat.Backup{Path: path, Kind: chat.BackupByHand, Bytes: info.Size(), At: info.ModTime().UTC()}
		if kind, at, ok := ParseName(filepath.Base(path)); ok {
			b.Kind, b.At = kind, at
		}
		describeBackup(ctx, &b, check)
		if check && b.Problem == "" {
			if err := a.verifyCopy(ctx, &b); err != nil {
				return nil, sqlite.MapError("store.backups", err)
			}
		}
		list = append(list, b)
	}
	for _, path := range atrest.Unfinished(a.dir) {
		b := chat.Backup{Path: path, Kind: chat.BackupByHand, Problem: "It is unfinished, and is removed at the next start."}
		for _, file := range []string{path, filepath.Join(path, sqlite.DatabaseFile)} { // a file of an earlier version
			if info, err := os.Lstat(file); err == nil {
				b.At = info.ModTime().UTC()
				if info.Mode().IsRegular() {
					b.Bytes = info.Size()
				}
			}
		}
		list = append(list, b)
	}
	slices.SortFunc(list, func(x, y chat.Backup) int {
		if c := y.At.Compare(x.At); c != 0 {
			return c
		}
		return strings.Compare(y.Path, x.Path)
	})
	return list, nil
}

// backupFiles returns the files that are or may be backups: those of the backup folder, and those recorded elsewhere.
func (a *Archive) backupFiles() ([]string, error) {
	dir := filepath.Join(a.dir, sqlite.BackupDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".db") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	for _, r := range atrest.Recall(a.dir) {
		if r.Copy != "" && filepath.Base(r.Copy) != sqlite.DatabaseFile {
			out = append(out, r.Copy)
		}
	}
	return out, nil
}

// verifyCopy previews a restore of a backup, and sets the problems that it finds. It returns an error if the preview
// was cancelled or could not run.
func (a *Archive) verifyCopy(ctx context.Context, b *chat.Backup) error {
	r, err := a.PreviewRestore(ctx, b.Path)
	switch chat.CodeOf(err) {
	case "":
		b.Problems, b.Findings = r.Problems, r.Findings
	case chat.CodeCancelled, chat.CodeTimeout, chat.CodeNoSpace, chat.CodeLocked, chat.CodeBusy:
		return err
	default:
		b.Problem = "It cannot be restored: " + chat.AsError(err).Message
	}
	return nil
}

// describeBackup opens a backup and reads its schema and its description. With check, it also reads all of the file and
// compares the numbers of records. Whatever fails becomes the backup's Problem.
func describeBackup(ctx context.Context, b *chat.Backup, check bool) {
	var err error
	if b.Schema, err = schema.ReadVersion(ctx, b.Path); err != nil || b.Schema == 0 {
		b.Problem = "It cannot be read as a backup of this program."
		return
	}
	db, err := sqlite.Connect(b.Path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		b.Problem = "It cannot be opened."
		return
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	db = db.WithContext(ctx)
	if _, b.Checked, err = readInfo(db, b); err != nil {
		b.Problem = "Its description cannot be read."
		return
	}
	if b.Counts == nil {
		b.Counts, err = countRecords(db)
	}
	if err == nil && check {
		b.Problem, err = checkCopy(db, *b)
	}
	if err != nil {
		b.Problem = "It cannot be read: " + chat.AsError(sqlite.MapError("store.backups", err)).Message
	}
}

// laterTables are the tables of a user's data that databases of earlier schemas do not have, each with an expression
// over its rows that changes with them.
var laterTables = []struct{ table, rows string }{
	{"queued_messages", `group_concat(id || '/' || position, ' ' ORDER BY id)`},
	{"assistants", `count(*) || '/' || max(updated_at)`},
	{"saved_prompts", `count(*) || '/' || max(updated_at)`},
	{"projects", `count(*) || '/' || max(updated_at)`},
	{"project_facts", `group_concat(id || '/' || position || '/' || length(text), ' ' ORDER BY id)`},
	{"tool_permissions", `count(*) || '/' || max(created_at)`},
	{"mcp_clients", `group_concat(name || '/' || scope || '/' || remember, ' ' ORDER BY name)`},
	{"mcp_grants", `group_concat(client || '/' || session_id || '/' || folder, ' ' ORDER BY client, session_id, folder)`},
}

// laterFingerprints returns the values of laterTables, empty for those that the database does not have.
func laterFingerprints(db *gorm.DB) ([]string, error) {
	existing, err := sqlite.All[string](db, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(laterTables))
	for i, t := range laterTables {
		if !slices.Contains(existing, t.table) {
			continue
		}
		if values[i], err = sqlite.One[string](db, "fingerprint", "", `SELECT coalesce(`+t.rows+`, '') FROM `+t.table); err != nil {
			return nil, err
		}
	}
	return values, nil
}
