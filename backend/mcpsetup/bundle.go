package mcpsetup

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/internal/safezip"
)

// Limits of a bundle.
const (
	maxBundle   = 512 << 20 // compressed bytes
	maxUnpacked = 1 << 30
	maxFiles    = 50_000
	maxManifest = 1 << 20
	manifest    = "manifest.json"
)

// bundle is a bundle file that was read. It is unpacked when its server is added.
type bundle struct {
	path string
	sum  string // hash of the file when it was read
}

// manifestFile is the manifest.json of a bundle, versions 0.1 to 0.4.
type manifestFile struct {
	ManifestVersion string `json:"manifest_version"`
	DXTVersion      string `json:"dxt_version"`
	Name            string `json:"name"`
	DisplayName     string `json:"display_name"`
	Version         string `json:"version"`
	Description     string `json:"description"`
	Author          struct {
		Name string `json:"name"`
	} `json:"author"`
	Server struct {
		Type      string       `json:"type"`
		MCPConfig launchConfig `json:"mcp_config"`
	} `json:"server"`
	UserConfig    map[string]configValue `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type launchConfig struct {
	Command   string                  `json:"command"`
	Args      []string                `json:"args"`
	Env       map[string]string       `json:"env"`
	Overrides map[string]launchConfig `json:"platform_overrides"`
}

// configValue is a value that a bundle asks the user for.
type configValue struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Sensitive   bool   `json:"sensitive"`
	Multiple    bool   `json:"multiple"`
	Default     any    `json:"default"`
}

func refusedBundle(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeInvalid, opImport, "This bundle cannot be used: %s Nothing was added.", fmt.Sprintf(format, args...))
}

func readBundle(path string) (*Import, error) {
	f, z, err := openBundle(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	sum, err := sumOf(f)
	if err != nil {
		return nil, refusedBundle("it cannot be read.")
	}
	var d manifestFile
	if err := readManifest(z, &d); err != nil {
		return nil, err
	}
	in := &Import{From: "a bundle"}
	c, err := d.candidate()
	if err != nil {
		return nil, err
	}
	c.bundle = &bundle{path: path, sum: sum}
	in.Servers = []Candidate{c}
	return in, nil
}

func openBundle(path string) (*os.File, *zip.Reader, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, nil, refusedBundle("it cannot be read.")
	}
	info, err := f.Stat()
	if err == nil && info.Size() > maxBundle {
		err = errors.New("too large")
	}
	var z *zip.Reader
	if err == nil {
		z, err = safezip.Open(f, info.Size(), maxFiles)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, refusedBundle("it is not a valid archive, or too large.")
	}
	return f, z, nil
}

func sumOf(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func readManifest(z *zip.Reader, d *manifestFile) error {
	for _, f := range z.File {
		if f.Name != manifest {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return refusedBundle("its manifest.json cannot be read.")
		}
		defer func() { _ = r.Close() }()
		raw, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
		if err != nil || len(raw) > maxManifest || json.Unmarshal(raw, d) != nil {
			return refusedBundle("its manifest.json cannot be read.")
		}
		return nil
	}
	return refusedBundle("it has no manifest.json.")
}

// platform returns the name that bundles use for this system.
func platform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

func (d manifestFile) candidate() (Candidate, error) {
	version := firstOf(d.ManifestVersion, d.DXTVersion)
	if !slices.Contains([]string{"0.1", "0.2", "0.3", "0.4"}, version) {
		return Candidate{}, refusedBundle("its manifest has version %s; only 0.1 to 0.4 are supported.", quoted(version))
	}
	if p := d.Compatibility.Platforms; len(p) > 0 && !slices.Contains(p, platform()) {
		return Candidate{}, refusedBundle("it is for %s, not for this system.", quoted(strings.Join(p, ", ")))
	}
	run := d.Server.MCPConfig
	if override, ok := run.Overrides[platform()]; ok {
		run.Command = firstOf(override.Command, run.Command)
		if override.Args != nil {
			run.Args = override.Args
		}
		for name, value := range override.Env {
			if run.Env == nil {
				run.Env = map[string]string{}
			}
			run.Env[name] = value
		}
	}
	if strings.TrimSpace(run.Command) == "" || d.Name == "" {
		return Candidate{}, refusedBundle("it does not name a program to start.")
	}
	c := Candidate{Original: d.Name, Questions: d.questions()}
	c.About = strings.TrimSpace(limited(firstOf(d.DisplayName, d.Name), 200) + " " + limited(d.Version, 50) + ", by " + limited(firstOf(d.Author.Name, "an unknown author"), 200) + ". " + limited(d.Description, 1000))
	c.Settings.MCPServer = config.MCPServer{Name: usableName(d.Name), Enabled: true, Command: d.convert(run.Command)}
	for _, a := range run.Args {
		c.Settings.Args = append(c.Settings.Args, d.convert(a))
	}
	c.Settings.Env, c.Settings.Headers = []Value{}, []Value{}
	for _, v := range valuesOf(run.Env) {
		c.Settings.Env = append(c.Settings.Env, Value{Name: v.Name, Value: d.convert(run.Env[v.Name])})
	}
	switch d.Server.Type {
	case "node":
		c.Notes = append(c.Notes, "It needs Node.js.")
	case "python":
		c.Notes = append(c.Notes, "It needs Python.")
	case "uv":
		c.Notes = append(c.Notes, "It needs uv, which downloads its dependencies.")
	case "binary":
		c.Notes = append(c.Notes, "It contains its own program.")
	}
	if _, _, err := c.Settings.server(); err != nil {
		return Candidate{}, refusedBundle("it cannot be started here: %s.", strings.Join(c.Settings.Faults(), "; "))
	}
	return c, nil
}

// limited returns a text on one line, of at most maxBytes.
func limited(text string, maxBytes int) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(text[:min(len(text), maxBytes)], "")
}

func (d manifestFile) questions() []Question {
	var out []Question
	keys := make([]string, 0, len(d.UserConfig))
	for key := range d.UserConfig {
		if keyPattern.MatchString(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		w := d.UserConfig[key]
		q := Question{
			Key: key, Title: limited(firstOf(w.Title, key), 200), Description: limited(w.Description, 1000), Type: w.Type,
			Required: w.Required, Secret: w.Sensitive, Multiple: w.Multiple,
		}
		if !slices.Contains([]string{"string", "number", "boolean", "directory", "file"}, q.Type) {
			q.Type = "string"
		}
		list, ok := w.Default.([]any)
		if !ok {
			list = []any{w.Default}
		}
		var defaults []string
		for _, v := range list {
			if text, ok := plain(v); ok {
				defaults = append(defaults, fillSystemFolders(text))
			}
		}
		q.Default = strings.Join(defaults, "\n")
		out = append(out, q)
	}
	return out
}

// convert turns ${user_config.KEY} into this package's placeholder for an answer, and fills in the folders of the
// system. The bundle's own folder is filled in later, when it is unpacked.
func (d manifestFile) convert(text string) string {
	text = strings.ReplaceAll(text, "${user_config.", "${answer:")
	return fillSystemFolders(text)
}

func fillSystemFolders(text string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return text
	}
	return strings.NewReplacer("${HOME}", home, "${DESKTOP}", filepath.Join(home, "Desktop"), "${DOCUMENTS}", filepath.Join(home, "Documents"), "${DOWNLOADS}", filepath.Join(home, "Downloads")).Replace(text)
}

// unpack unpacks a bundle into a new folder and returns the folder. On an error, the folder is removed again.
func (s *Setup) unpack(b *bundle, name string) (dir string, err error) {
	f, z, err := openBundle(b.path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if sum, err := sumOf(f); err != nil || sum != b.sum {
		return "", refusedBundle("its file has changed since it was read.")
	}
	failed := func(err error) error {
		return chat.WrapError(chat.CodeInternal, opImport, err, "The bundle could not be unpacked; nothing was added.")
	}
	if err := os.MkdirAll(s.Bundles, 0o700); err != nil {
		return "", failed(err)
	}
	if dir, err = os.MkdirTemp(s.Bundles, name+"-"); err != nil {
		return "", failed(err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
			dir = ""
		}
	}()
	remaining := int64(maxUnpacked)
	for _, entry := range z.File {
		if err = unpackFile(dir, entry, &remaining); err != nil {
			if chat.CodeOf(err) == chat.CodeInvalid {
				return dir, err
			}
			return dir, failed(err)
		}
	}
	return dir, nil
}

// unpackFile writes one file. Links and paths that lead outside of the folder are rejected.
func unpackFile(dir string, entry *zip.File, remaining *int64) (err error) {
	name := filepath.FromSlash(strings.TrimSuffix(entry.Name, "/"))
	if !filepath.IsLocal(name) || strings.ContainsRune(entry.Name, '\\') || len(name) > 1000 {
		return refusedBundle("it contains a file whose path leads outside, %s.", strconv.Quote(limited(entry.Name, 100)))
	}
	target := filepath.Join(dir, name)
	mode := entry.Mode()
	switch {
	case mode.IsDir():
		return os.MkdirAll(target, 0o700)
	case !mode.IsRegular():
		return refusedBundle("it contains a link or a device, %s.", strconv.Quote(limited(entry.Name, 100)))
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	in, err := entry.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	perm := os.FileMode(0o600)
	if mode.Perm()&0o111 != 0 {
		perm = 0o700
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, *remaining+1))
	if *remaining -= n; err == nil && *remaining < 0 {
		return refusedBundle("it is larger than %d MB when unpacked.", maxUnpacked>>20)
	}
	return err
}
