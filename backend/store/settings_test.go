package store

import (
	"maps"
	"testing"
)

// Settings are found by a prefix of their keys, compared exactly, and deleted one by one.
func TestSettingsByPrefix(t *testing.T) {
	s, ctx := newFixture(t), t.Context()
	for key, value := range map[string]string{"task.1": "a", "task.2": "b", "task_3": "c", "Task.4": "d", "task%": "e"} {
		if err := s.PutSetting(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []map[string]string{{"task.1": "a", "task.2": "b"}, {"task.2": "b"}} {
		got, err := s.Settings(ctx, "task.")
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%d: %v, %v, want %v", i, got, err, want)
		}
		for range 2 { // the second time there is nothing to delete
			if err := s.DeleteSetting(ctx, "task.1"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
