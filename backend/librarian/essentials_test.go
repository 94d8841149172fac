package librarian_test

import (
	"html"
	"regexp"
	"strings"
)

// essential is a short fact that a memory of a conversation must contain. Each of its forms is a list of words that
// must occur in one line of the summary; one form is enough. A form is written as "word+word".
type essential struct {
	name  string
	forms []string
}

// codeEssentials were written by hand after reading the twelve exchanges of the recorded conversation, before the
// librarian was tuned to keep them.
var codeEssentials = []essential{
	{"date of the meeting", []string{"march 15, 2024"}},
	{"time of the meeting", []string{"09:00 cet", "9:00 cet", "9 am cet"}},
	{"the meeting overlaps with nothing important", []string{"overlap+event"}},
	{"first step: own and team calendars", []string{"calendar+team calendar"}},
	{"participants in New York", []string{"new york"}},
	{"participants in Tokyo", []string{"tokyo"}},
	{"participants in Sydney", []string{"sydney"}},
	{"the meeting in New York's time", []string{"new york+03:00", "edt+03:00", "est+03:00", "new york+3 am"}},
	{"the meeting in Tokyo's time", []string{"tokyo+06:00", "tokyo+18:00", "jst+18:00", "jst+06:00"}},
	{"the meeting in Sydney's time", []string{"sydney+07:00", "sydney+19:00", "aest+19:00", "aest+07:00"}},
	{"the user's name", []string{"christina"}},
	{"the user's profession", []string{"colour technologist"}},
	{"what is built", []string{"weather app"}},
	{"the API and its version", []string{"openweather+v2.5"}},
	{"the API is used correctly", []string{"api+correctly", "proper api"}},
	{"errors are handled properly", []string{"error+properly", "errors+handle", "handling errors", "error handling"}},
	{"edge cases are handled", []string{"edge cases"}},
	{"the language", []string{"vanilla javascript+es2021"}},
	{"markup and styles", []string{"html5+css3"}},
	{"the endpoint for weather", []string{"api.openweathermap.org/data/2.5/weather"}},
	{"the function that fetches", []string{"fetchweather"}},
	{"temperature in Celsius", []string{"temperature+°c"}},
	{"humidity in percent", []string{"humidity+%"}},
	{"conditions with icons", []string{"conditions+icon"}},
	{"fetch with async/await", []string{"fetch()+async/await"}},
	{"responses are validated", []string{"validat+response"}},
	{"ready for production", []string{"production-level", "production-ready", "production level"}},
	{"special characters are encoded", []string{"encodeuricomponent"}},
	{"the city that is not found", []string{"404", "not found", "isn't found"}},
	{"the API for autocomplete", []string{"geocoding api v1"}},
	{"the endpoint for autocomplete", []string{"api.openweathermap.org/geo/1.0/direct"}},
	{"the debounce delay", []string{"debounce+300ms", "debounce+300 ms"}},
}

// missingEssentials lists the names of essentials that are not in a summary.
func missingEssentials(summary string, list []essential) []string {
	var missing []string
	for _, e := range list {
		if !e.isIn(summary) {
			missing = append(missing, e.name)
		}
	}
	return missing
}

var markup = regexp.MustCompile("[`*\\\\]")

func (e essential) isIn(summary string) bool {
	summary = strings.ToLower(markup.ReplaceAllString(html.UnescapeString(summary), ""))
	summary = strings.ReplaceAll(summary, "’", "'")
	for line := range strings.Lines(summary) {
		for _, form := range e.forms {
			contains := true
			for _, word := range strings.Split(form, "+") {
				contains = contains && strings.Contains(line, word)
			}
			if contains {
				return true
			}
		}
	}
	return false
}
