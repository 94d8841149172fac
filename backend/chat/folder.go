package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// folderRunes is the maximum length of a folder's name.
const folderRunes = 60

// FolderName normalizes a folder's name: on one line, empty for none.
func FolderName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", Errorf(CodeInvalid, "session.folder", "A folder's name must be one line of text; nothing was changed.")
	case utf8.RuneCountInString(name) > folderRunes:
		return "", Errorf(CodeInvalid, "session.folder", "A folder's name can have at most %d characters; nothing was changed.", folderRunes)
	}
	return name, nil
}

// CopyTitle returns the title for a session's duplicate.
func CopyTitle(title string) string {
	if title == "" {
		return ""
	}
	return title + " (copy)"
}
