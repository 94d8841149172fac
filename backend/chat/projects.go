package chat

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ProjectID is the id of a project.
type ProjectID string

// Project is a folder of sessions that has more than a name: instructions for its sessions,
// what they use by default, and files that they remember. The sessions in the folder that
// has its name belong to it.
type Project struct {
	ID           ProjectID     `json:"project_id"`
	Name         string        `json:"name"`         // of its folder
	Instructions string        `json:"instructions"` // are before a session's own
	Model        string        `json:"model"`        // of its new sessions; empty: the default
	ToolsMode    string        `json:"tools_mode"`   // of sessions without their own: disabled, parse_only, enabled; empty: tools.mode
	Tools        []string      `json:"tools"`        // the only ones offered: SOURCE or SOURCE/TOOL; empty: all
	Facts        []ProjectFact `json:"facts"`        // pinned, in order
	Watch        string        `json:"watch"`        // the watched folder, absolute; empty: none
	Sessions     int           `json:"sessions"`     // in its folder and not archived
	Files        int           `json:"files"`        // documents and watched files
	Scan         *ProjectScan  `json:"scan"`         // the last look at the watched folder that changed something
	CreatedAt    time.Time     `json:"created_at"`
	UpdatedAt    time.Time     `json:"updated_at"`
}

// ProjectFact is a pinned fact of a project.
type ProjectFact struct {
	ID   PinID  `json:"fact_id"`
	Text string `json:"text"`
}

// ProjectSettings are what a person gives a project, all of it.
type ProjectSettings struct {
	Name         string
	Instructions string
	Model        string
	ToolsMode    string
	Tools        []string
	Facts        []string // in order; one that is there already keeps its id
}

// Settings are what the project was given.
func (p Project) Settings() ProjectSettings {
	s := ProjectSettings{Name: p.Name, Instructions: p.Instructions, Model: p.Model, ToolsMode: p.ToolsMode, Tools: slices.Clone(p.Tools)}
	for _, f := range p.Facts {
		s.Facts = append(s.Facts, f.Text)
	}
	return s
}

// Offers reports that the project's sessions are offered a tool.
func (p Project) Offers(d ToolDefinition) bool {
	return len(p.Tools) == 0 || slices.Contains(p.Tools, d.Source) || slices.Contains(p.Tools, d.Source+"/"+d.Tool)
}

// Bounds of a project.
const (
	MaxProjects            = 500
	MaxProjectInstructions = 64 << 10 // bytes
	MaxProjectFacts        = 100
	MaxProjectFact         = 4 << 10 // bytes
	MaxProjectTools        = 200
)

const projectOp = "project.set"

// Checked are the settings as they are kept, or why they are not.
func (s ProjectSettings) Checked() (ProjectSettings, error) {
	refused := func(format string, args ...any) (ProjectSettings, error) {
		return s, Errorf(CodeInvalid, projectOp, format+"; nothing was changed.", args...)
	}
	name, err := FolderName(s.Name)
	if err != nil {
		return s, err
	}
	s.Name, s.Instructions, s.Model = name, strings.TrimSpace(s.Instructions), strings.TrimSpace(s.Model)
	switch {
	case name == "":
		return refused("A project has a name")
	case len(s.Instructions) > MaxProjectInstructions:
		return refused("Instructions of a project have at most %d KB", MaxProjectInstructions>>10)
	case !slices.Contains([]string{"", "disabled", "parse_only", "enabled"}, s.ToolsMode):
		return refused("%q is not a mode of tools: disabled, parse_only or enabled", s.ToolsMode)
	case len(s.Tools) > MaxProjectTools:
		return refused("A project names at most %d tools", MaxProjectTools)
	case len(s.Facts) > MaxProjectFacts:
		return refused("A project has at most %d pinned facts", MaxProjectFacts)
	}
	var facts, tools []string
	for _, f := range s.Facts {
		f = strings.TrimSpace(f)
		if len(f) > MaxProjectFact {
			return refused("A pinned fact has at most %d KB", MaxProjectFact>>10)
		}
		if f != "" && !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	for _, t := range s.Tools {
		t = strings.TrimSpace(t)
		if utf8.RuneCountInString(t) > MaxTitleRunes {
			return refused("The name of a tool is too long")
		}
		if t != "" && !slices.Contains(tools, t) {
			tools = append(tools, t)
		}
	}
	s.Facts, s.Tools = facts, tools
	return s, nil
}

// ProjectFileKind says how a file came into a project.
type ProjectFileKind string

const (
	ProjectDocument ProjectFileKind = "document" // a person gave a copy of it
	ProjectWatched  ProjectFileKind = "watched"  // it lies in the watched folder, and is read again when it changes
)

// ProviderFiles is the provider of turns that hold a file of a project: nobody was
// asked. SourceFiles is the source of the sessions that hold these turns, one each; they
// are in no list.
const (
	ProviderFiles = "files"
	SourceFiles   = "files"
)

// ProjectFile is a file of a project as it was read.
type ProjectFile struct {
	Path       string          `json:"path"` // below the watched folder, with slashes; a document's name
	Kind       ProjectFileKind `json:"kind"`
	File       FileID          `json:"file_id"`
	Session    SessionID       `json:"session_id"` // that holds it
	MediaType  string          `json:"media_type"`
	Size       int64           `json:"size"`
	Tokens     int             `json:"tokens"`
	Hash       string          `json:"content_hash"`
	ModifiedAt time.Time       `json:"modified_at"`
	ReadAt     time.Time       `json:"read_at"`
	Indexed    bool            `json:"indexed"` // false: it cannot be found yet
}

// NewProjectFile is a file that was read into a project.
type NewProjectFile struct {
	Project    ProjectID
	Path       string
	Kind       ProjectFileKind
	ModifiedAt time.Time
	NewFile    // its session is made
}

// ProjectScan tells what a look at a watched folder found.
type ProjectScan struct {
	At        time.Time      `json:"at"`
	Found     int            `json:"found"` // files that are indexed now
	New       []string       `json:"new"`
	Changed   []string       `json:"changed"`
	Removed   []string       `json:"removed"`
	Skipped   []SkippedFile  `json:"skipped"` // the first of them
	SkippedBy map[string]int `json:"skipped_by"`
	Error     string         `json:"error,omitempty"` // why the folder could not be looked at
}

// SkippedFile is a file or directory that is not indexed, and why.
type SkippedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Differs reports that a look found something else than the one before it.
func (s ProjectScan) Differs() bool { return len(s.New)+len(s.Changed)+len(s.Removed) > 0 }
