package transfer

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"

	"contextinfinity/backend/chat"
)

// manifest reads the list of the files of ChatGPT's export, and reports the files with conversations that are missing.
func (r *run) manifest(in Input, from io.Reader) error {
	var m struct {
		Export  list            `json:"export_files"`
		Logical json.RawMessage `json:"logical_files"`
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxAsset))
	if err != nil || json.Unmarshal(raw, &m) != nil {
		r.skip(SkippedRow{Reason: "The list of the export's files cannot be read."})
		return err
	}
	var names []string
	for _, entry := range m.Export {
		name, _ := textOf(valueOf(entry, "path"))
		names = append(names, name)
	}
	for _, logical := range members(m.Logical) {
		var f struct {
			Files list `json:"files"`
		}
		_ = json.Unmarshal(logical.value, &f) // without files, there is none to check
		for _, file := range f.Files {
			name, _ := textOf(file)
			names = append(names, name)
		}
	}
	dir := "."
	if r.file != "" {
		dir = path.Dir(in.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := path.Join(dir, slashed(name))
		if r.beside == nil || path.Ext(name) != ".json" || !fs.ValidPath(at) {
			continue
		}
		if _, err := fs.Stat(r.beside, at); err != nil {
			r.skip(SkippedRow{Title: name, Reason: chat.Say("The export names a file %s, which is missing; download the export again.", name).Packed()})
		}
	}
	return nil
}
