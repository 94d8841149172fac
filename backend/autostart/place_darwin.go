package autostart

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/internal/atomicfile"
)

// label is the name of the agent in launchd.
const label = "io.github.contextinfinity"

// maxEntry limits how many bytes of an agent's file are read.
const maxEntry = 64 << 10

// agent is the path of a property list in the user's LaunchAgents. launchd reads it at the next sign-in.
type agent string

func systemPlace() (place, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	return agent(filepath.Join(home, "Library", "LaunchAgents", label+".plist")), nil
}

func (a agent) String() string { return string(a) }

// command returns the strings of ProgramArguments.
func (a agent) command() ([]string, error) {
	file, err := os.Open(string(a))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var list struct {
		Dict struct {
			Keys  []string `xml:"key"`
			Array struct {
				Strings []string `xml:"string"`
			} `xml:"array"`
		} `xml:"dict"`
	}
	if err := xml.NewDecoder(io.LimitReader(file, maxEntry)).Decode(&list); err != nil {
		return nil, err
	}
	return list.Dict.Array.Strings, nil
}

func (a agent) write(command []string) error {
	if err := os.MkdirAll(filepath.Dir(string(a)), 0o755); err != nil {
		return err
	}
	var args strings.Builder
	for _, word := range command {
		args.WriteString("\t\t<string>")
		if err := xml.EscapeText(&args, []byte(word)); err != nil {
			return err
		}
		args.WriteString("</string>\n")
	}
	text := xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Interactive</string>
</dict>
</plist>
`
	return atomicfile.Write(string(a), []byte(text), 0o644)
}

func (a agent) remove() error {
	if err := os.Remove(string(a)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
