package librarian

import (
	"strings"
	"unicode"

	"contextinfinity/backend/internal/lexical"
)

// artifactKind classifies a token by its form; "" for an ordinary word.
func artifactKind(token string) Kind {
	switch {
	case token == "":
	case isURL(token):
		return KindURL
	case isPath(token):
		return KindPath
	case isID(token):
		return KindID
	case isSymbol(token):
		return KindSymbol
	}
	return ""
}

func isURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	if base, _, ok := strings.Cut(rest, "$"); ok && len(base) < 4 {
		return false // just a placeholder
	}
	return ok && len(scheme) >= 2 && len(scheme) <= 12 && len(rest) >= 3 && onlyRunes(scheme, isASCIILetter, "+.-0123456789")
}

// extensions are the file extensions by which a plain name is recognized as a file.
var extensions = lexical.Set(`adoc asm avi bat bin bmp bz2 c cc cfg cjs class clj cmake conf cpp cs css csv dart db deb diff dll doc
	docx ejs env epub erl ex exe exs fs gif go gql gradle graphql groovy gz h hcl hpp hs html ico ini ipynb iso jar java jpeg jpg
	js json jsonl jsx jl kt kts less lock log lua m4 md mdx mjs mk mod mov mp3 mp4 ndjson nix odp ods odt parquet patch pdf php pl plist
	png ppt pptx proto ps1 psd pt py pyc pyi r rb rs rst rtf sass scala scss sh so sql sqlite sqlite3 sum svelte svg swift tar tex
	tf tfvars tgz toml ts tsv tsx ttf txt vue wasm wav webm webp woff woff2 xls xlsx xml yaml yml zig zip zsh`)

// bareFiles are well-known files without an extension.
var bareFiles = lexical.Set(`Makefile Dockerfile Jenkinsfile Procfile Vagrantfile Gemfile Rakefile CMakeLists.txt LICENSE CHANGELOG README
	.env .gitignore .dockerignore .bashrc .zshrc .profile .editorconfig .npmrc`)

func isPath(s string) bool {
	if name, line, ok := strings.Cut(s, ":"); ok && onlyRunes(line, isDigit, ":-") && len(name) > 1 {
		s = name // a line number
	}
	s = strings.TrimPrefix(s, "@")
	if len(s) < 3 || !strings.ContainsFunc(s, unicode.IsLetter) {
		return false
	}
	if len(s) > 3 && s[1] == ':' && isASCIILetter(rune(s[0])) && (s[2] == '\\' || s[2] == '/') {
		return true
	}
	if !strings.Contains(s, "/") {
		return bareFiles[s] || (hasExtension(s) && onlyRunes(s, isWordRune, ".-+") && !isMember(s))
	}
	return isSlashPath(s)
}

// Names in code with members that look like files: "console.log", "response.json", "process.env".
var (
	objects     = lexical.Set("console logger response resp res request req process window document self this event err error json math module exports os sys ctx context")
	memberNames = lexical.Set("log json env map sum lock db text go class mod diff md")
)

func isMember(s string) bool {
	object, member, ok := strings.Cut(strings.ToLower(s), ".")
	return ok && objects[object] && memberNames[member]
}

// isSlashPath distinguishes a path from "and/or", a date and a fraction.
func isSlashPath(s string) bool {
	for _, prefix := range []string{"./", "../", "~/"} {
		if strings.HasPrefix(s, prefix) {
			return len(s) > len(prefix)
		}
	}
	if s[0] == '/' && strings.Contains(s, `\`) {
		return false // a regular expression
	}
	slashes := strings.Count(s, "/")
	last := s[strings.LastIndexByte(s, '/')+1:]
	switch {
	case strings.Contains(s, "//"):
		return false
	case hasExtension(last):
		return true
	case s[0] == '/':
		return slashes >= 2
	case last == "":
		return true // "backend/": written as a directory
	}
	return slashes >= 2 && strings.ContainsAny(s, "._-0123456789")
}

func hasExtension(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && extensions[strings.ToLower(name[i+1:])] && strings.ContainsFunc(name[:i], isWordRune)
}

func isID(s string) bool {
	switch {
	case isUUID(s), isHash(s), isULID(s), isTicket(s), isVersion(s), isMail(s):
		return true
	case s[0] == '#':
		return len(s) > 1 && len(s) <= 10 && onlyRunes(s[1:], isDigit, "")
	}
	return false
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && onlyRunes(s, isHex, "-")
}

// isHash accepts hexadecimal with the length of a commit or a digest that is neither a number nor a word.
func isHash(s string) bool {
	s = strings.TrimPrefix(s, "0x")
	return len(s) >= 7 && len(s) <= 128 && onlyRunes(s, isHex, "") &&
		strings.ContainsFunc(s, isDigit) && strings.ContainsFunc(s, isASCIILetter)
}

func isULID(s string) bool {
	return len(s) == 26 && s[0] >= '0' && s[0] <= '7' && onlyRunes(s, func(r rune) bool { return isDigit(r) || (r >= 'A' && r <= 'Z') }, "")
}

// isTicket accepts ABC-123 and CVE-2026-1234.
func isTicket(s string) bool {
	project, number, ok := strings.Cut(s, "-")
	return ok && len(project) >= 2 && len(project) <= 10 && project != "UTF" &&
		onlyRunes(project, unicode.IsUpper, "") && len(number) > 0 && isDigit(rune(number[0])) && onlyRunes(number, isDigit, "-")
}

// isVersion accepts 1.2.3, v1.2.3-rc.1, and addresses such as 10.0.0.1:80.
func isVersion(s string) bool {
	s = strings.TrimPrefix(s, "v")
	core, _, _ := strings.Cut(s, "-")
	return strings.Count(core, ".") >= 2 && isDigit(rune(core[0])) && isDigit(rune(core[len(core)-1])) && onlyRunes(core, isDigit, ".:/")
}

func isMail(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	return ok && name != "" && strings.Contains(strings.Trim(host, "."), ".") && onlyRunes(host, isWordRune, ".-")
}

// isSymbol accepts names in the style of code: call(), snake_case, camelCase, pkg.Name, ns::name, --flag.
func isSymbol(s string) bool {
	if flag, ok := strings.CutPrefix(s, "--"); ok {
		return len(flag) > 1 && isASCIILetter(rune(flag[0])) && onlyRunes(flag, isWordRune, "-=.")
	}
	if len(s) > 80 || !onlyRunes(s, isWordRune, ".:#$") || !isNameStart(rune(s[0])) {
		return false
	}
	if strings.Contains(strings.Trim(s, "_"), "_") || strings.Contains(s, "::") {
		return strings.ContainsFunc(s, isASCIILetter)
	}
	return isCamelCase(s)
}

// isCamelCase reports whether a lower case letter is followed by an upper case one, with at most a dot between them.
func isCamelCase(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' {
			continue
		}
		before := s[i-1]
		if before == '.' && i > 1 {
			before = s[i-2]
		}
		if before >= 'a' && before <= 'z' {
			return true
		}
	}
	return false
}

func isASCIILetter(r rune) bool { return (r|0x20) >= 'a' && (r|0x20) <= 'z' }
func isDigit(r rune) bool       { return r >= '0' && r <= '9' }
func isHex(r rune) bool         { return isDigit(r) || ((r|0x20) >= 'a' && (r|0x20) <= 'f') }
func isNameStart(r rune) bool   { return isASCIILetter(r) || r == '_' || r == '$' }
func isWordRune(r rune) bool    { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// onlyRunes reports whether f accepts each rune of s that is not in also.
func onlyRunes(s string, f func(rune) bool, also string) bool {
	for _, r := range s {
		if !f(r) && !strings.ContainsRune(also, r) {
			return false
		}
	}
	return true
}
