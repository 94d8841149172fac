package autostart

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const (
	runKey = `Software\Microsoft\Windows\CurrentVersion\Run`
	// approvedKey is where the Task Manager records which entries the user disabled.
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
)

// runValue is a value of the user's Run key.
type runValue struct{}

func systemPlace() (place, error) { return runValue{}, nil }

func (runValue) String() string { return `HKEY_CURRENT_USER\` + runKey }

func (runValue) command() ([]string, error) {
	line, err := read(runKey, func(k registry.Key) (string, error) {
		text, _, err := k.GetStringValue(Name)
		return text, err
	})
	if err != nil || line == "" {
		return nil, err
	}
	approved, err := read(approvedKey, func(k registry.Key) (string, error) {
		data, _, err := k.GetBinaryValue(Name)
		return string(data), err
	})
	if err != nil || approved != "" && approved[0]&1 == 1 { // an odd first byte: disabled
		return nil, err
	}
	return windows.DecomposeCommandLine(line)
}

// read returns a value of a key; empty if the key or the value does not exist.
func read(path string, value func(registry.Key) (string, error)) (string, error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, path, registry.QUERY_VALUE)
	if err != nil {
		if errors.Is(err, registry.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	defer func() { _ = k.Close() }()
	text, err := value(k)
	if errors.Is(err, registry.ErrNotExist) {
		return "", nil
	}
	return text, err
}

func (runValue) write(command []string) error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer func() { _ = k.Close() }()
	if err := k.SetStringValue(Name, windows.ComposeCommandLine(command)); err != nil {
		return err
	}
	return drop(approvedKey) // the user may have disabled it in the Task Manager before
}

func (runValue) remove() error { return errors.Join(drop(runKey), drop(approvedKey)) }

// drop deletes this program's value of a key.
func drop(path string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if err == nil {
		defer func() { _ = k.Close() }()
		err = k.DeleteValue(Name)
	}
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	return err
}
