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

// checkPlaces refuses an invalid location in the arguments. Otherwise, after a typo or with an unset variable, another
// location would silently be used. The default locations may be missing.
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
		return usageHint("contextinfinity --config FILE config set KEY VALUE creates one",
			"%s: there is no such configuration file; nothing was done.", c.configPath)
	}
	return c.checkOverrides()
}

// checkOverrides refuses an invalid --set. Problems of the file itself are reported where it is read.
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

// makesConfig reports whether a verb prints, or creates, a configuration file that need not exist.
func makesConfig(verb string) bool {
	return verb == "config_set" || verb == "config_path" || verb == "restore"
}

// noWindow is the error for words that are neither a verb nor options of the window.
func (c *call) noWindow(cmd *cobra.Command, args []string) error {
	if err := c.checkPlaces(cmd.Flags()); err != nil {
		return err
	}
	if flags := cmd.Flags(); flags.Changed("session") && !flags.Changed("new-window") {
		return usageHint("to send to a session: contextinfinity send --session", "--session needs --new-window.")
	}
	if name, ok := c.missingFile(args); ok {
		return usageHint("contextinfinity help lists the verbs", "%s: no such file.", clip(name, 200))
	}
	return noVerb(cmd, args)
}

var fileName = regexp.MustCompile(`[/\\]|[^.]\.[A-Za-z0-9]+$`)

// missingFile returns the first word that names no file where files were expected: it looks like a file name, or
// another word names a file.
func (c *call) missingFile(words []string) (string, bool) {
	missing, existing := "", false
	for _, word := range words {
		if _, err := os.Stat(c.path(filepath.Clean(word))); err == nil {
			existing = true
		} else if missing == "" {
			missing = word
		}
	}
	return missing, missing != "" && (existing || fileName.MatchString(missing))
}
