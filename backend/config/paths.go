package config

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"contextinfinity/backend/chat"
)

const appName = "contextinfinity"

// DefaultPath returns the path of config.toml in the XDG configuration directory.
func DefaultPath() string { return filepath.Join(xdg.ConfigHome, appName, "config.toml") }

// DefaultDataDir returns the program's XDG data directory.
func DefaultDataDir() string { return filepath.Join(xdg.DataHome, appName) }

// dataDir chooses between the flag, the file and the default, and makes the path absolute.
func dataDir(flag, configured string) (string, error) {
	dir := configured
	dir = cmp.Or(flag, dir)
	if dir == "" {
		return DefaultDataDir(), nil
	}
	dir, err := expandHome(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", chat.WrapError(chat.CodeConfig, "config.data_dir", err, "the data directory cannot be determined").
			WithHint("give an absolute path")
	}
	return dir, nil
}

func expandHome(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, strings.TrimPrefix(path, "~")), nil
}
