package desktop

import (
	"path/filepath"
	"sync"
	"time"
)

// dropTime is how long the two halves of a drop wait for each other: far longer than the page takes, far shorter than
// a person between two drops.
const dropTime = 5 * time.Second

// drops combines the two halves of a drop: the system sends the paths, the page sends the position and whether files
// were dropped. The paths alone are not reliable: GTK's side of Wails keeps those of a drag that only passed over the
// window, or started in it, and sends them with the next drop of anything.
type drops struct {
	deliver func(WindowRequest)

	mu         sync.Mutex
	paths      []string
	pathsAt    time.Time      // when the paths arrived
	page       *WindowRequest // position, once the page accepted the drop
	acceptedAt time.Time      // when the page accepted the drop
}

// receivePaths receives the paths of dropped files.
func (d *drops) receivePaths(paths []string) {
	var usable []string
	for _, p := range paths {
		if filepath.IsAbs(p) { // skips web addresses, which come as relative paths
			usable = append(usable, filepath.Clean(p))
		}
	}
	d.mu.Lock()
	d.paths, d.pathsAt = usable, time.Now()
	request := d.complete()
	d.mu.Unlock()
	d.deliverIfComplete(request)
}

// receivePage receives the page's half: whether external files were dropped, and where.
func (d *drops) receivePage(data ...any) {
	files, _ := first[bool](data)
	d.mu.Lock()
	d.page = nil
	if files {
		d.page, d.acceptedAt = &WindowRequest{Kind: RequestFiles, X: number(data, 1), Y: number(data, 2)}, time.Now()
	} else {
		d.paths = nil
	}
	request := d.complete()
	d.mu.Unlock()
	d.deliverIfComplete(request)
}

// complete returns the drop if both halves have arrived in time, otherwise nil.
func (d *drops) complete() *WindowRequest {
	if d.page == nil || len(d.paths) == 0 || time.Since(d.pathsAt) > dropTime || time.Since(d.acceptedAt) > dropTime {
		return nil
	}
	request := *d.page
	request.Paths = d.paths
	d.page, d.paths = nil, nil
	return &request
}

func (d *drops) deliverIfComplete(request *WindowRequest) {
	if request != nil {
		d.deliver(*request)
	}
}

// number returns the i-th value of an event if it is a number, otherwise -1.
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
