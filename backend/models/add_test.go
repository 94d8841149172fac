package models

import "testing"

func TestANameKeepsTheDotsOfItsModel(t *testing.T) {
	for id, want := range map[string]string{
		"meta-llama/Llama-3.3-70B-Instruct": "llama-3.3-70b-instruct",
		"llama3.2:3b":                       "llama3.2-3b",
		"gpt-4.1":                           "gpt-4.1-2",
		"...":                               "model",
	} {
		if got := freeName(id, map[string]bool{"gpt-4.1": true}); got != want {
			t.Errorf("%s is named %s, want %s", id, got, want)
		}
	}
}
