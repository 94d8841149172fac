package librarian

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// declaration matches a line of code that declares a name, in common languages. A comment or a sentence in a code
// block ("type of thing") does not match, because the syntax of a declaration must follow the name.
var declaration = pattern.New(`^(?:export |default |async |public |private |protected |internal |static |final |abstract |pub(?:\([a-z]+\))? |unsafe |inline |override )*` +
	`(?:function\*? ?|func |def |fn |class |type |struct |interface |enum |trait |module |package |namespace )(?:\([^)]*\) ?)?([A-Za-z_$][A-Za-z0-9_$]*)(.*)$`)

// binding is a line that gives a function a name: "const fetchCity = async (name) => {".
var binding = pattern.New(`^(?:export )?(?:const|let|var|val) ([A-Za-z_$][A-Za-z0-9_$]*) ?= ?(?:[A-Za-z_$.]+\()?(?:async )?(?:function\b|\([^)]*\) ?=>|[A-Za-z_$][A-Za-z0-9_$]* ?=>)`)

// declared is the name that a line of code declares, if any.
func declared(line string) string {
	line = display.OneLine(line)
	if m := binding().FindStringSubmatch(line); m != nil {
		return m[1]
	}
	m := declaration().FindStringSubmatch(line)
	if m == nil || len(m[1]) < 2 || len(m[1]) > 80 || lexical.IsStopWord(strings.ToLower(m[1])) {
		return ""
	}
	switch rest := strings.TrimSpace(m[2]); {
	case rest == "", strings.ContainsAny(rest[:1], "({[<:=;"):
		return m[1]
	case strings.HasPrefix(rest, "struct"), strings.HasPrefix(rest, "interface"), strings.HasPrefix(rest, "extends"),
		strings.HasPrefix(rest, "implements"), strings.HasPrefix(rest, "func"):
		return m[1]
	}
	return ""
}

// code reads a block of code: the names that it declares, the addresses and files that it names, and its settings.
func (x *extraction) code(line string) {
	if name := declared(line); name != "" {
		x.add(Entity{Kind: KindSymbol, Text: name, inCode: true})
	}
	for _, a := range assignmentsIn(line, assignment) {
		x.add(Entity{Kind: KindSymbol, Text: a, inCode: true})
	}
	eachToken(line, func(token string, called bool) {
		switch kind := artifactKind(token); {
		case kind == KindURL, kind == KindPath && strings.ContainsAny(token, `/\`):
			x.add(Entity{Kind: kind, Text: token, inCode: true})
		case kind == KindPath && !called && isQuoted(line, token):
			x.add(Entity{Kind: kind, Text: token, inCode: true})
		}
	})
}

// isQuoted reports whether a name is a complete string in a line of code: without quotes, "a.b" is a member of a.
func isQuoted(line, name string) bool {
	i := strings.Index(line, name)
	end := i + len(name)
	return i > 0 && end < len(line) && strings.ContainsRune("\"'`", rune(line[i-1])) && strings.ContainsRune("\"'`", rune(line[end]))
}

// literal matches a literal value: a string, a number with a unit, a boolean.
const literal = `"[^"]{1,60}"|'[^']{1,60}'|-?\d[\w.:/%]*|(?:true|false|yes|no|on|off|null|none)\b`

// assignment matches a setting and its value: a constant or an environment variable with any value, another name with
// a literal, because the value of most other names is an expression.
var assignment = pattern.New(`(?i:^|[\s` + "`" + `(,;"'])((?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{3,}[0-9]*) ?= ?(?:` + literal + `|[\w.:/%+@$-]*[\w%])|[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+ ?= ?(?:` + literal + `))`)

// plainAssignment matches an assignment without spaces in prose, with any name: "timeout=30".
var plainAssignment = pattern.New(`(?:^|[\s` + "`" + `(,;])([A-Za-z][A-Za-z0-9_.-]+=(?:` + literal + `|[\w.:/%+@$-]*[\w%]))`)

// maxAssigned is the maximum length of a line that is searched for assignments, in bytes.
const maxAssigned = 2000

func assignmentsIn(line string, forms ...pattern.Pattern) []string {
	if len(line) > maxAssigned || !strings.Contains(line, "=") {
		return nil
	}
	var out []string
	for _, form := range forms {
		for _, m := range form().FindAllStringSubmatchIndex(line, -1) {
			rest := line[m[3]:]
			if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "{") || inAddress(line, m[2]) {
				continue
			}
			if a := line[m[2]:m[3]]; !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// inAddress reports whether a position is inside an address: "?q=1" is not a setting.
func inAddress(line string, at int) bool {
	begin := strings.LastIndexAny(line[:at], " \t`\"'") + 1
	return strings.Contains(line[begin:at], "://") || strings.Contains(line[begin:at], "?")
}
