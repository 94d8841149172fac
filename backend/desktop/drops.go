package desktop

import (
	"path/filepath"
	"sync"
	"time"
)

// dropTime is how long the two halves of a drop wait for each other: far longer than
// the page takes, far shorter than a person between two drops.
const dropTime = 5 * time.Second

// drops puts the two halves of a drop together: the system gives the paths, the page
// says where the drop was and that it was one of files. The paths alone are not
// believed: GTK's side of Wails keeps those of a drag that only passed over the
// window, or that left from it, and gives them with the next drop of anything.
type drops struct {
	deliver func(WindowRequest)

	mu    sync.Mutex
	paths []string
	at    time.Time      // of paths
	page  *WindowRequest // where, once the page accepted
	told  time.Time      // of page
}

// came takes the paths of what was dropped.
func (d *drops) came(paths []string) {
	var usable []string
	for _, p := range paths {
		if filepath.IsAbs(p) { // an address of the web, say, comes as nothing
			usable = append(usable, filepath.Clean(p))
		}
	}
	d.mu.Lock()
	d.paths, d.at = usable, time.Now()
	s := d.whole()
	d.mu.Unlock()
	d.pass(s)
}

// said takes the page's side: whether files from elsewhere were dropped, and where.
func (d *drops) said(data ...any) {
	files, _ := first[bool](data)
	d.mu.Lock()
	d.page = nil
	if files {
		d.page, d.told = &WindowRequest{Kind: RequestFiles, X: number(data, 1), Y: number(data, 2)}, time.Now()
	} else {
		d.paths = nil
	}
	s := d.whole()
	d.mu.Unlock()
	d.pass(s)
}

// whole is the drop, if both halves are there.
func (d *drops) whole() *WindowRequest {
	if d.page == nil || len(d.paths) == 0 || time.Since(d.at) > dropTime || time.Since(d.told) > dropTime {
		return nil
	}
	s := *d.page
	s.Paths = d.paths
	d.page, d.paths = nil, nil
	return &s
}

func (d *drops) pass(s *WindowRequest) {
	if s != nil {
		d.deliver(*s)
	}
}

// number is a value of an event, whose numbers come as JSON's.
func number(data []any, i int) int {
	if i >= len(data) {
		return -1
	}
	n, ok := data[i].(float64)
	if !ok {
		return -1
	}
	return int(n)
}
