package config_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"contextinfinity/backend/config"
)

// A change by another process takes effect soon; an invalid one does not, and its errors are reported.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		err := os.WriteFile(path+".new", []byte(text), 0o600)
		if err == nil {
			err = os.Rename(path+".new", path) // as editors do; the polling interval of this test is shorter than writing takes
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("[budget]\nworking_set_tokens = 20000\n")
	s, err := config.Open(config.Options{Path: path, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	dir := s.Config().DataDir
	other, err := config.Open(config.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}

	changed, applied := make(chan struct{}, 10), make(chan int, 10)
	s.Subscribe(func(c *config.Config) { applied <- c.Budget.WorkingSetTokens })
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Watch(ctx, 2*time.Millisecond, func() { changed <- struct{}{} })
	}()
	defer func() { stop(); <-ended }()

	if err := other.Set("budget.working_set_tokens", "30000"); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got := <-applied; got != 30000 || s.Config().Budget.WorkingSetTokens != 30000 {
		t.Fatalf("the limit is %d tokens after another process set 30000", got)
	}

	write("[budget]\nworking_set_tokens = \"many\"\n")
	<-changed
	if s.Err() == nil || s.Config().Budget.WorkingSetTokens != 30000 {
		t.Fatalf("with an error in the file: %v, the limit is %d tokens", s.Err(), s.Config().Budget.WorkingSetTokens)
	}

	write("[general]\ndata_dir = \"/elsewhere\"\n[budget]\nworking_set_tokens = 40000\n")
	<-changed
	if c := s.Config(); s.Err() != nil || c.Budget.WorkingSetTokens != 40000 || c.DataDir != dir {
		t.Fatalf("once it is correct: %v, %d tokens, data in %s", s.Err(), c.Budget.WorkingSetTokens, c.DataDir)
	}
	<-applied

	// Its own edits take effect at once, without a notification.
	if err := s.Set("budget.working_set_tokens", "25000"); err != nil {
		t.Fatal(err)
	}
	<-applied
	if err := other.Set("budget.working_set_tokens", "26000"); err != nil {
		t.Fatal(err)
	}
	<-changed
	if len(changed) != 0 || s.Config().Budget.WorkingSetTokens != 26000 {
		t.Fatalf("%d more changes were reported; the limit is %d tokens", len(changed), s.Config().Budget.WorkingSetTokens)
	}
}
