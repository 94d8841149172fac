package librarian

import (
	"strings"
	"unicode"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// sampleWords begin an assistant's sentence that only illustrates.
var sampleWords = pattern.New(`(?i)^(?:\W*)(?:examples?|samples?|templates?|e\.g\.|for (?:example|instance)|before|after|original|revised|zum beispiel|beispiel|z\. ?b\.|(?:par )?exemple|(?:por )?ejemplo|(?:por )?exemplo|(?:per )?esempio)\b[^.!?]{0,40}?[:,]`)

// sampleTitles are words of a heading, or of a sentence that ends in a colon, above text that an assistant writes for
// others to use.
var sampleTitles = pattern.New(`(?i)\b(?:examples?|samples?|templates?|drafts?|cover letter|e-?mail|revised|rewritten|version|statement|script|beispiele?|vorlage|entwurf|exemples?|modèle|ejemplos?|plantilla|exemplos?|esempi?)\b`)

// ownVoice are words that an assistant uses only when it writes on behalf of another person.
var ownVoice = lexical.Set("my mine our ours mein meine meinen unser unsere mon ma mes notre nos mi mis nuestro nuestra")

// isSample reports whether an assistant's sentence is an example, a quotation or text with gaps to fill in.
func isSample(sentence string) bool {
	sentence = strings.TrimSpace(sentence)
	if sampleWords().MatchString(sentence) || strings.HasPrefix(sentence, "\"") || strings.HasPrefix(sentence, "“") || placeholderGap().MatchString(sentence) {
		return true
	}
	if _, quoted, ok := strings.Cut(sentence, ": "); ok && strings.IndexAny(quoted, "\"“") == 0 {
		return true
	}
	return intent.HasWord(sentence, ownVoice)
}

// placeholderGap matches a gap in a template: "[Company Name]", "<your name>", "{date}".
var placeholderGap = pattern.New(`\[[A-Z][A-Za-z' /-]{2,}\]|<[a-zA-Z][a-z]+ [a-zA-Z ]+>|\{\{`)

// sampleHosts are example addresses.
var sampleHosts = pattern.New(`(?i)(?:^|[/@.])example\.(?:com|org|net|edu)\b`)

// samplePart matches a part of an example name: "your-project", "firstname".
var samplePart = pattern.New(`(?i)(?:^|[^a-z])(?:your|my|some)?(?:first_?name|last_?name|user_?name|company_?name|website|domain|placeholder|lorem|ipsum|xxx+|foobar)(?:$|[^a-z])|(?:^|[^a-zA-Z])(?:your|YOUR|Your)(?:[_A-Z-]|[^a-zA-Z]|website|domain|name|company|project|app|site|user)|^(?:/?path/to/)|(?:jane|john)[._]?(?:doe|smith)@`)

// isPlaceholder reports whether a name does not refer to a real thing: a plain file extension, a gap in a template, an
// address of example.com.
func isPlaceholder(name string) bool {
	name = strings.Trim(name, "`\\")
	if name == "" {
		return true
	}
	if strings.ContainsRune("[<{", rune(name[0])) && !strings.Contains(name, "=") {
		return true
	}
	if ext, ok := strings.CutPrefix(name, "."); ok && extensions[strings.ToLower(ext)] && !bareFiles[name] {
		return true
	}
	return sampleHosts().MatchString(name) || samplePart().MatchString(name)
}

// maxLinks is how many addresses outside of code an answer may have before it counts as a list of links.
const maxLinks = 2

// keptNames returns the names in an assistant's text that are worth keeping: addresses, paths and settings in code, and
// in prose those with a form that occurs only in real work. Links, e-mail addresses and brands in its suggestions are
// dropped; functions and classes that its code declares, and labels of other programs, are kept only if the user names
// them.
func keptNames(names []Entity, asked string) []Entity {
	links := 0
	for _, e := range names {
		if e.Kind == KindURL && !e.inCode {
			links++
		}
	}
	var out []Entity
	for _, e := range names {
		switch {
		case e.Kind == KindSymbol && isSnippet(e) && !containsWord(asked, strings.TrimSuffix(e.Text, "()")):
			continue
		case e.Kind == KindURL && strings.ContainsAny(e.Text, "{}$"): // filled in by code
			continue
		case isMail(e.Text), e.inItem && e.Kind == KindURL:
			continue
		case !e.inCode && e.Kind == KindURL && (links > maxLinks || !isSpecific(e.Text)):
			continue
		case !e.inCode && (isBrand(e.Text) || formula().MatchString(e.Text)):
			continue
		}
		out = append(out, e)
	}
	return out
}

// isSnippet reports whether a name in an assistant's text is meaningless without its context: a name that its code
// declares, a member that it sets ("this.style.outline = ..."), an expression, a label in a program ("Insert
// Citation").
func isSnippet(e Entity) bool {
	name, value, assigned := strings.Cut(e.Text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case strings.ContainsAny(e.Text, "<>{}"):
		return true
	case assigned && onlyRunes(name, unicode.IsLower, ""): // an attribute of a page: role="button"
		return strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'")
	case assigned:
		return e.inCode && strings.Contains(name, ".")
	case e.inCode, strings.ContainsAny(e.Text, "$*;"), strings.Contains(e.Text, ": "):
		return true
	}
	return e.Text[0] >= 'A' && e.Text[0] <= 'Z' && strings.Contains(e.Text, " ")
}

// formula matches a quantity of a calculation: "x_1", "h_c = 4", "ABC = 50", "\( \angle \)".
var formula = pattern.New(`^[A-Za-z]{1,2}_\w{1,2}(?: ?= ?.*)?$|^[A-Z]{1,3} ?= ?[\d.,]+\S?$|^\\|^[a-zA-Z]{1,2}$`)

// isSpecific reports whether an address is more than just that of a site.
func isSpecific(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	return path != "" || strings.Contains(host, ":")
}

// isBrand reports whether a name is a capitalized word of letters only, like product names: "PocketGuard".
func isBrand(name string) bool {
	return name != "" && name[0] >= 'A' && name[0] <= 'Z' && onlyRunes(name, isASCIILetter, "")
}
