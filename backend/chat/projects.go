package chat

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ProjectID is the id of a project.
type ProjectID string

// Project is a folder of sessions with instructions, defaults and files for its sessions. The sessions in the folder
// with its name belong to it.
type Project struct {
	ID           ProjectID     `json:"project_id"`
	Name         string        `json:"name"`         // of its folder
	Instructions string        `json:"instructions"` // precede a session's own
	Model        string        `json:"model"`        // for new sessions; empty: the default
	ToolsMode    string        `json:"tools_mode"`   // of sessions without their own: disabled, parse_only, enabled; empty: tools.mode
	Tools        []string      `json:"tools"`        // the only ones offered: SOURCE or SOURCE/TOOL; empty: all
	Facts        []ProjectFact `json:"facts"`        // pinned, in order
	Watch        string        `json:"watch"`        // the watched folder, absolute; empty: none
	// WatchIdentity identifies the watched folder; empty: not known yet.
	WatchIdentity string       `json:"-"`
	Sessions      int          `json:"sessions"` // unarchived, in its folder
	Files         int          `json:"files"`    // documents and watched files
	Scan          *ProjectScan `json:"scan"`     // the last scan of the watched folder with a change
	CreatedAt     time.Time    `json:"created_at"`
	UpdatedAt     time.Time    `json:"updated_at"`
}

// ProjectFact is a pinned fact of a project.
type ProjectFact struct {
	ID   PinID  `json:"fact_id"`
	Text string `json:"text"`
}

// ProjectSettings are all settings of a project.
type ProjectSettings struct {
	Name         string
	Instructions string
	Model        string
	ToolsMode    string
	Tools        []string
	Facts        []string // in order; an existing one keeps its id
}

// Settings returns the project's settings.
func (p Project) Settings() ProjectSettings {
	s := ProjectSettings{Name: p.Name, Instructions: p.Instructions, Model: p.Model, ToolsMode: p.ToolsMode, Tools: slices.Clone(p.Tools)}
	for _, f := range p.Facts {
		s.Facts = append(s.Facts, f.Text)
	}
	return s
}

// Offers reports whether the project's sessions may use a tool.
func (p Project) Offers(d ToolDefinition) bool {
	return len(p.Tools) == 0 || slices.Contains(p.Tools, d.Source) || slices.Contains(p.Tools, d.Source+"/"+d.Tool)
}

// Limits of a project.
const (
	MaxProjects            = 500
	MaxProjectInstructions = 64 << 10 // bytes
	MaxProjectFacts        = 100
	MaxProjectFact         = 4 << 10 // bytes
	MaxProjectTools        = 200
)

const projectOp = "project.set"

// Checked returns the normalized settings, or why they are invalid.
func (s ProjectSettings) Checked() (ProjectSettings, error) {
	invalid := func(format string, args ...any) (ProjectSettings, error) {
		return s, Errorf(CodeInvalid, projectOp, format+"; nothing was changed.", args...)
	}
	name, err := FolderName(s.Name)
	if err != nil {
		return s, err
	}
	s.Name, s.Instructions, s.Model = name, strings.TrimSpace(s.Instructions), strings.TrimSpace(s.Model)
	switch {
	case name == "":
		return invalid("A project must have a name")
	case len(s.Instructions) > MaxProjectInstructions:
		return invalid("Instructions of a project can be at most %d KB long", MaxProjectInstructions>>10)
	case !slices.Contains([]string{"", "disabled", "parse_only", "enabled"}, s.ToolsMode):
		return invalid("%q is not a tools mode: disabled, parse_only or enabled", s.ToolsMode)
	case len(s.Tools) > MaxProjectTools:
		return invalid("A project can name at most %d tools", MaxProjectTools)
	case len(s.Facts) > MaxProjectFacts:
		return invalid("A project can have at most %d pinned facts", MaxProjectFacts)
	}
	var facts, tools []string
	for _, f := range s.Facts {
		f = strings.TrimSpace(f)
		if len(f) > MaxProjectFact {
			return invalid("A pinned fact can be at most %d KB long", MaxProjectFact>>10)
		}
		if f != "" && !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	for _, t := range s.Tools {
		t = strings.TrimSpace(t)
		if utf8.RuneCountInString(t) > MaxTitleRunes {
			return invalid("The name of a tool is too long")
		}
		if t != "" && !slices.Contains(tools, t) {
			tools = append(tools, t)
		}
	}
	s.Facts, s.Tools = facts, tools
	return s, nil
}

// ProjectFileKind is how a file was added to a project.
type ProjectFileKind string

const (
	ProjectDocument ProjectFileKind = "document" // a copy added by the user
	ProjectWatched  ProjectFileKind = "watched"  // in the watched folder, and read again when it changes
)

// ProviderFiles is the provider of turns with a project file, for which no model was called. SourceFiles is the
// source of the sessions with these turns, one each; they are not listed.
const (
	ProviderFiles = "files"
	SourceFiles   = "files"
)

// ProjectFile is a file of a project as last read.
type ProjectFile struct {
	Path       string          `json:"path"` // relative to the watched folder, with slashes; a document's name
	Kind       ProjectFileKind `json:"kind"`
	File       FileID          `json:"file_id"`
	Session    SessionID       `json:"session_id"` // the session that contains it
	MediaType  string          `json:"media_type"`
	Size       int64           `json:"size"`
	Tokens     int             `json:"tokens"`
	Hash       string          `json:"content_hash"`
	ModifiedAt time.Time       `json:"modified_at"`
	ReadAt     time.Time       `json:"read_at"`
	Indexed    bool            `json:"indexed"` // false: it is not searchable yet
}

// NewProjectFile is a file read into a project.
type NewProjectFile struct {
	Project    ProjectID
	Path       string
	Kind       ProjectFileKind
	ModifiedAt time.Time
	NewFile    // its session is made
}

// ProjectScan is the result of scanning a watched folder.
type ProjectScan struct {
	At        time.Time      `json:"at"`
	Found     int            `json:"found"` // files that are now indexed
	New       []string       `json:"new"`
	Changed   []string       `json:"changed"`
	Removed   []string       `json:"removed"`
	Skipped   []SkippedFile  `json:"skipped"` // the first of them
	SkippedBy map[string]int `json:"skipped_by"`
	Error     string         `json:"error,omitempty"` // why the folder could not be scanned
}

// SkippedFile is a file or directory that is not indexed, and why.
type SkippedFile struct {
	Path   string `json:"path"`
	Reason string `json:"why"` // stored and printed under this key since the first scans
}

// Differs reports whether the scan found new, changed or removed files.
func (s ProjectScan) Differs() bool { return len(s.New)+len(s.Changed)+len(s.Removed) > 0 }
