package backup

import (
	"context"
	"errors"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

// infoProblems is the key under which a daily backup tells how many problems verify
// found in it when it was made; none where nobody looked.
const infoProblems = "problems"

// verifyDaily verifies what a copy holds, before it is called a backup, and writes down
// in it how much it found: damage is copied too, and such a copy must not push out one
// without. What is made again from the rest (the text index, vectors) is let be.
func verifyDaily(ctx context.Context, path string, b *chat.Backup) error {
	db, err := sqlite.Connect(path, append([]string{"journal_mode(MEMORY)", "synchronous(OFF)"}, sqlite.CommonPragmas...), 1)
	if err != nil {
		return err
	}
	db = db.WithContext(ctx)
	a := verify.NewAudit()
	err = a.Originals(ctx, db)
	if err == nil {
		b.Problems, b.Findings = len(a.Found), slices.Clone(a.Found[:min(len(a.Found), maxTold)])
		err = db.Exec(`INSERT OR REPLACE INTO `+schema.InfoTable+` VALUES (?, ?)`, infoProblems, sqlite.Itoa(int64(b.Problems))).Error
	}
	return errors.Join(err, sqlite.Disconnect(db))
}

// BackupHealth is what a daily backup says of itself: whether verify found problems in it
// when it was made.
type BackupHealth int

const (
	BackupHealthy BackupHealth = iota
	copyUnknown                // nobody looked
	copyDamaged                // or it cannot be read
)

func BackupHealthOf(ctx context.Context, path string) BackupHealth {
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return copyDamaged
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	db = db.WithContext(ctx)
	there, err := schema.HasTable(db, schema.InfoTable)
	if err != nil || !there {
		return unknownUnless(err)
	}
	problems, err := sqlite.All[string](db, `SELECT value FROM `+schema.InfoTable+` WHERE key = ?`, infoProblems)
	if err != nil || len(problems) == 0 {
		return unknownUnless(err)
	}
	if problems[0] != "0" {
		return copyDamaged
	}
	return BackupHealthy
}

func unknownUnless(err error) BackupHealth {
	if err != nil {
		return copyDamaged
	}
	return copyUnknown
}

// toPrune are the daily backups that are no longer to be kept, of a list with the one
// just made first. A sound one pushes out older ones that are sound or that nobody
// looked at; any other only its like: however many are made of data that is damaged, the
// last sound ones stay.
func toPrune(ctx context.Context, list []DailyFile, p BackupPolicy) []DailyFile {
	groups := map[BackupHealth][]DailyFile{}
	made := BackupHealthOf(ctx, list[0].Path)
	for _, d := range list {
		s := BackupHealthOf(ctx, d.Path)
		if s == copyUnknown && made == BackupHealthy {
			s = BackupHealthy
		}
		groups[s] = append(groups[s], d)
	}
	stay := Kept(groups[made], p)
	return slices.DeleteFunc(groups[made], func(d DailyFile) bool { return slices.Contains(stay, d) })
}

// soundEvery is how long ago the last backup was verified before one is where somebody
// waits for it: it takes some ten times as long as the copy.
const soundEvery = 7 * 24 * time.Hour

// verifies reports that the backup made now is to be verified.
func verifies(ctx context.Context, now time.Time, list []DailyFile, brief bool) bool {
	return !brief || !slices.ContainsFunc(list, func(d DailyFile) bool {
		age := now.Sub(d.At)
		return age >= 0 && age < soundEvery && BackupHealthOf(ctx, d.Path) != copyUnknown
	})
}
