package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/pattern"
)

// Limits of the files that are read beside a file of conversations.
const (
	maxPicture      = 5 << 20  // bytes; models accept no larger ones
	maxAsset        = 20 << 20 // bytes of another file
	maxAssets       = 64 << 20 // bytes of all files of a conversation
	maxAssetFiles   = MaxArchiveFiles
	maxAssetDepth   = 4
	assetNames      = "conversation_asset_file_names.json"
	noticePicture   = "A picture of the export is larger than 5 MB; it was left out."
	noticeAsset     = "A file of the export is neither a picture nor text, or is too large; only its name was imported."
	noticeAssets    = "The files of a conversation are larger than 64 MB together; the rest of them was left out."
	noticeNoAsset   = "A picture or file of a conversation is not in the export."
	assetFolderFile = "content" // of Grok, in a folder named by its id
)

// assets are the pictures and files of an export, by their ids.
type assets struct {
	files fs.FS
	paths map[string]string // by id
	names map[string]string // of files whose name in the export is only an id, by that name
	read  func(ctx context.Context, name string, data []byte) (text string, err error)
}

// fileID is the id at the beginning of the name of a file of ChatGPT, or in a reference to it.
var fileID = pattern.New(`file[-_][A-Za-z0-9]+`)

// openAssets lists the files of an export, which may be nil.
func openAssets(files fs.FS) *assets {
	a := &assets{files: files, paths: map[string]string{}, names: map[string]string{}}
	if files == nil {
		return a
	}
	n := 0
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // reported when it is read
		case d.IsDir() && strings.Count(name, "/") >= maxAssetDepth:
			return fs.SkipDir
		case n == maxAssetFiles:
			return fs.SkipAll
		}
		n++
		base := path.Base(name)
		if id := assetID(name); id != "" && !d.IsDir() {
			a.paths[id] = name
		} else if base == assetNames {
			_ = json.Unmarshal(a.bytes(name, maxAsset), &a.names) // without names, files are recognized by their content
		}
		return nil
	})
	return a
}

// assetID is the id of a file by its path; empty for files that are not referred to.
func assetID(name string) string {
	base := path.Base(name)
	if base == assetFolderFile {
		return path.Base(path.Dir(name))
	}
	if at := fileID().FindStringIndex(base); at != nil && at[0] == 0 {
		return base[:at[1]]
	}
	return ""
}

func (a *assets) bytes(name string, limit int64) []byte {
	f, err := a.files.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil
	}
	return data
}

// reference is how a message refers to a file.
type reference struct {
	Pointer  str `json:"asset_pointer"`
	ID       str `json:"id"`
	FileID   str `json:"file_id"`
	Metadata str `json:"fileMetadataId"`
	Name     str `json:"name"`
	FileName str `json:"file_name"`
	Media    str `json:"mime_type"`
}

// referenceIn returns the id of the file that content of an unknown type refers to; empty: none.
func referenceIn(source Source, raw json.RawMessage) (id string, r reference) {
	switch {
	case source == SourceChatGPT:
		if json.Unmarshal(raw, &r) != nil {
			return "", r
		}
		all := fileID().FindAllString(string(r.Pointer+" "+r.ID+" "+r.FileID), -1)
		if len(all) == 0 {
			return "", r
		}
		return all[len(all)-1], r // of an address of a page in a file, the page
	case source == SourceGrok && len(raw) > 0 && raw[0] == '"':
		id, _ = textOf(raw)
		return id, r
	case source == SourceGrok && json.Unmarshal(raw, &r) == nil:
		for _, s := range []str{r.Metadata, r.FileID, r.ID} {
			if s != "" {
				return string(s), r
			}
		}
	}
	return "", r
}

// attachFiles shows the pictures and files that visible messages refer to.
func (d *draft) attachFiles(ctx context.Context, open func() *assets) {
	total := 0
	for i := range d.nodes {
		n := &d.nodes[i]
		f := n.form()
		if f.kind < kindUser || n.failed {
			continue
		}
		seen := map[string]bool{}
		if blocks, changed := d.withFiles(ctx, open, f.blocks, seen, &total); changed {
			n.showAs(blocks)
		}
	}
}

func (d *draft) withFiles(ctx context.Context, open func() *assets, blocks chat.Blocks, seen map[string]bool, total *int) (out chat.Blocks, changed bool) {
	for _, b := range blocks {
		switch x := b.(type) {
		case chat.Unknown:
			id, r := referenceIn(d.Source, x.Raw)
			if id == "" {
				break
			}
			if seen[id] { // the list of attachments repeats the pictures in the message
				changed = true
				continue
			}
			if file := d.file(ctx, open(), id, r, total); file != nil {
				out, changed, seen[id] = append(out, file), true, true
				continue
			}
		case chat.ToolResult: // pictures are shown beside the result
			content, _ := d.withFiles(ctx, open, x.Content, seen, total)
			out = append(out, x)
			for _, c := range content {
				if _, picture := c.(chat.Image); picture {
					out, changed = append(out, c), true
				}
			}
			continue
		}
		out = append(out, b)
	}
	return out, changed
}

// file returns a file of the export as a block; nil if it is not there, or cannot be shown.
func (d *draft) file(ctx context.Context, a *assets, id string, r reference, total *int) chat.Block {
	name, ok := a.paths[id]
	switch {
	case !ok && a.files == nil:
		return nil
	case !ok:
		d.notice(noticeNoAsset, 1)
		return nil
	}
	if *total > maxAssets {
		d.notice(noticeAssets, 1)
		return nil
	}
	data := a.bytes(name, maxAsset)
	*total += len(data)
	shown := path.Base(string(r.Name + r.FileName))
	if known := a.names[path.Base(name)]; known != "" {
		shown = path.Base(slashed(known))
	}
	if shown == "." || shown == "/" {
		shown = path.Base(name)
	}
	media := chat.ImageType(data)
	switch {
	case media != "" && len(data) > maxPicture:
		d.notice(noticePicture, 1)
		return nil
	case media != "":
		image := chat.NewImage(media, data)
		image.Name = shown
		return image
	case len(data) > 0 && utf8.Valid(data) && !strings.ContainsRune(string(data), 0):
		return document(shown, string(r.Media), string(data))
	case a.read != nil && len(data) > 0:
		if text, err := a.read(ctx, shown, data); err == nil && strings.TrimSpace(text) != "" {
			return document(shown, string(r.Media), text)
		} else if errors.Is(err, context.Canceled) {
			return nil // the import ends
		}
	}
	d.notice(noticeAsset, 1)
	return nil
}
