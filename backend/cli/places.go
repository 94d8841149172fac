package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
)

// checkPlaces refuses a place that was named and is none: a slip of the pen, or a
// variable that is not set, would quietly mean another one. The usual places may be
// missing.
func (c *call) checkPlaces(flags *pflag.FlagSet) error {
	if flags.Changed("data-dir") && c.dataDir == "" {
		return usageHint("name a directory, or omit --data-dir", "--data-dir is empty; nothing was done.")
	}
	if !flags.Changed("config") {
		return c.checkOverrides()
	}
	if c.configPath == "" {
		return usageHint("name a file, or omit --config", "--config is empty; nothing was done.")
	}
	if _, err := os.Stat(c.path(c.configPath)); errors.Is(err, fs.ErrNotExist) {
		return usageHint("contextinfinity --config FILE config set KEY VALUE makes one",
			"%s: there is no such configuration file; nothing was done.", c.configPath)
	}
	return c.checkOverrides()
}

// checkOverrides refuses a --set that is wrong by itself or beside the file. What is wrong
// with the file itself is reported where it is read.
func (c *call) checkOverrides() error {
	if len(c.set) == 0 {
		return nil
	}
	_, err := config.Open(config.Options{Path: c.path(c.configPath), DataDir: c.path(c.dataDir), Set: c.set})
	if chat.CodeOf(err) != chat.CodeInvalid {
		return nil
	}
	d := c.describe(err)
	return usageHint(d.Hint, "%s", d.Message)
}

// makesConfig reports whether a verb tells of, or makes, a configuration file that need
// not be there yet.
func makesConfig(verb string) bool {
	return verb == "config_set" || verb == "config_path" || verb == "restore"
}

// noWindow is the answer to words that are not verb and did not open the window.
func (c *call) noWindow(cmd *cobra.Command, args []string) error {
	if err := c.checkPlaces(cmd.Flags()); err != nil {
		return err
	}
	if name, ok := c.missingFile(args); ok {
		return usageHint("contextinfinity help lists the verbs", "%s: no such file.", clip(name, 200))
	}
	return noVerb(cmd, args)
}

var fileName = regexp.MustCompile(`[/\\]|[^.]\.[A-Za-z0-9]+$`)

// missingFile is the first word that names no file, where files were meant: it looks
// like one, or a word beside it is one.
func (c *call) missingFile(words []string) (string, bool) {
	missing, meant := "", false
	for _, word := range words {
		if _, err := os.Stat(c.path(filepath.Clean(word))); err == nil {
			meant = true
		} else if missing == "" {
			missing = word
		}
	}
	return missing, missing != "" && (meant || fileName.MatchString(missing))
}
