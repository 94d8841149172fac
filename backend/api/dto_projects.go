package api

// ProjectsPanel is all projects.
type ProjectsPanel struct {
	Rev      int64        `json:"rev"`
	Projects []ProjectRow `json:"projects"` // by name
}

// ProjectRow is a project in a list.
type ProjectRow struct {
	ID       string `json:"id"`
	Name     string `json:"name"`     // of its folder
	Sessions int    `json:"sessions"` // in its folder and not archived
	Files    int    `json:"files"`
}

// ProjectView is a project with all its settings, without its files.
type ProjectView struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Instructions string           `json:"instructions"` // precede a session's own
	Model        string           `json:"model"`        // of new sessions; empty: the default
	ToolsMode    string           `json:"toolsMode"`    // "" (as configured), disabled, parse_only, enabled
	Tools        []string         `json:"tools"`        // the only ones offered, SOURCE or SOURCE/TOOL; none: all
	Facts        []string         `json:"facts"`        // pinned, in order
	Watch        string           `json:"watch"`        // the watched folder; empty: none
	Sessions     int              `json:"sessions"`
	Files        int              `json:"files"`
	Scan         *ProjectScanView `json:"scan"` // the last scan of the watched folder with a change; null: none
}

// ProjectScanView is the result of scanning a watched folder. Long lists are shortened.
type ProjectScanView struct {
	At           int64             `json:"at"`
	Found        int               `json:"found"` // files that are now indexed
	New          []string          `json:"new"`
	Changed      []string          `json:"changed"`
	Removed      []string          `json:"removed"`
	NewCount     int               `json:"newCount"`
	ChangedCount int               `json:"changedCount"`
	RemovedCount int               `json:"removedCount"`
	Skipped      []SkippedCount    `json:"skipped"`      // by reason
	SkippedFiles []SkippedFileView `json:"skippedFiles"` // the first of them
	Error        string            `json:"error"`        // why the folder could not be scanned; empty: no error
}

// SkippedCount is how many files were left out for one reason.
type SkippedCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// SkippedFileView is a file or directory that was left out.
type SkippedFileView struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ProjectFileView is a document or watched file of a project.
type ProjectFileView struct {
	Path      string `json:"path"`
	ID        string `json:"id"` // for Chat.Document
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	Tokens    int    `json:"tokens"`
	Indexed   bool   `json:"indexed"` // false: it is not searchable yet
}

// ProjectFilesPage is a page of a project's files of one kind, by path.
type ProjectFilesPage struct {
	Total int               `json:"total"`
	Files []ProjectFileView `json:"files"`
}
