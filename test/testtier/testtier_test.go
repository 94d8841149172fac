package testtier

import (
	"os"
	"slices"
	"testing"
)

func TestBothForms(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	t.Setenv("TEST_ALL", "")
	if got := Sample(all, 3); !slices.Equal(got, []int{0, 3, 6}) || Size(1, 2) != 1 {
		t.Errorf("everyday: %v, size %d", got, Size(1, 2))
	}
	if got := Sample(all, 20); !slices.Equal(got, all) {
		t.Errorf("a sample of more than there is: %v", got)
	}
	t.Setenv("TEST_ALL", "1")
	if got := Sample(all, 3); !slices.Equal(got, all) || Size(1, 2) != 2 {
		t.Errorf("exhaustive: %v, size %d", got, Size(1, 2))
	}
}

func TestDirectoriesAreRemoved(t *testing.T) {
	var dirs []string
	t.Run("use", func(t *testing.T) {
		dirs = []string{Memory(t), Disk(t)}
		for _, dir := range dirs {
			if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s remains (%v)", dir, err)
		}
	}
}
