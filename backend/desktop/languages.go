package desktop

import (
	"regexp"
	"slices"
	"strings"
)

// language matches a locale's language, with an optional region.
var language = regexp.MustCompile(`^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)`)

const english = "en_US"

// webLanguages returns the user's languages from the environment, in the notation of spell checkers (de_DE) and in
// that of the web (de-DE). English comes last, because it is the window's default. It is the only one if the locale is
// C or POSIX.
func webLanguages(env func(string) string) (spelling, preferred []string) {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale = env(name); locale != "" {
			break
		}
	}
	names := append(strings.Split(env("LANGUAGE"), ":"), locale)
	if locale == "C" || strings.HasPrefix(locale, "C.") || locale == "POSIX" {
		names = nil // LANGUAGE only applies to real locales
	}
	for _, name := range append(names, english) {
		found := language.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		tag, dictionary := found[1], found[1]
		if found[2] != "" {
			tag, dictionary = found[1]+"-"+found[2], found[1]+"_"+found[2]
		}
		if slices.Contains(preferred, tag) {
			continue
		}
		spelling, preferred = append(spelling, dictionary), append(preferred, tag)
	}
	return spelling, preferred
}
