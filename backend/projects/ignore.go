package projects

import (
	"path"
	"strings"
)

// ignoreRule is a line of a .gitignore file.
type ignoreRule struct {
	dir     string   // directory of the .gitignore file; "." for the watched folder itself
	parts   []string // parts between slashes; "**" is any number of directories
	negated bool
	dirOnly bool
}

// ignoreRules parses the .gitignore file of a directory. Invalid patterns are skipped.
func ignoreRules(dir, text string) []ignoreRule {
	var out []ignoreRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " ")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{dir: dir}
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if _, err := path.Match(line, ""); err != nil || line == "" {
			continue
		}
		if r.parts = strings.Split(line, "/"); !anchored {
			r.parts = append([]string{"**"}, r.parts...)
		}
		out = append(out, r)
	}
	return out
}

// ignored reports whether a path is ignored: the last matching rule decides.
func ignored(rules []ignoreRule, name string, isDir bool) bool {
	out := false
	for _, r := range rules {
		rest := name
		if r.dir != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(name, r.dir+"/"); !ok {
				continue
			}
		}
		if (isDir || !r.dirOnly) && matches(r.parts, strings.Split(rest, "/")) {
			out = !r.negated
		}
	}
	return out
}

func matches(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		if len(pattern) == 1 {
			return len(name) > 0
		}
		for i := range name {
			if matches(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	case len(name) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && matches(pattern[1:], name[1:])
}
