package vault

import (
	"context"
	"crypto/rand"
	"encoding/xml"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// webDAV is a Place: a folder of a WebDAV server, such as Nextcloud, which must exist.
type webDAV struct {
	remote
	base string // the address of the folder, with a slash at its end

	mu   sync.Mutex
	made map[string]bool // folders that exist
}

func newWebDAV(r remote, u *url.URL) (Place, error) {
	if u.RawQuery != "" {
		return nil, notAnAddress()
	}
	r.sign = func(req *http.Request, _ []byte) { req.SetBasicAuth(r.user, r.password) }
	base := u.Scheme + "://" + u.Host + "/" + escaped(strings.Trim(u.Path, "/"), false)
	return &webDAV{remote: r, base: strings.TrimSuffix(base, "/") + "/", made: map[string]bool{}}, nil
}

// call sends a request for a name below the folder. Other statuses than those that are expected are errors.
func (w *webDAV) call(ctx context.Context, q request, name string, expected ...int) (answer, error) {
	q.url, q.limit = w.base+name, max(q.limit, 1<<20)
	a, err := w.send(ctx, q)
	if err == nil && !slices.Contains(expected, a.status) {
		err = w.refused(a, "")
	}
	return a, err
}

// PutNew implements Place. A complete file gets its name by MOVE without overwriting, because many servers ignore
// If-None-Match, and a file that is written in place can be seen half.
func (w *webDAV) PutNew(ctx context.Context, name string, content []byte) error {
	a, err := w.call(ctx, request{method: http.MethodHead}, name, http.StatusOK, http.StatusNotFound)
	if err == nil && a.status == http.StatusOK {
		err = ErrExists
	}
	if err == nil {
		err = w.makeFolder(ctx, path.Dir(name))
	}
	if err != nil {
		return err
	}
	temp := "new-" + rand.Text()
	put := request{method: http.MethodPut, content: content, header: http.Header{"Content-Type": {"application/octet-stream"}}}
	_, err = w.call(ctx, put, temp, http.StatusCreated, http.StatusNoContent, http.StatusOK)
	if err == nil {
		move := request{method: "MOVE", header: http.Header{"Destination": {w.base + name}, "Overwrite": {"F"}}}
		a, err = w.call(ctx, move, temp, http.StatusCreated, http.StatusNoContent, http.StatusNotFound, http.StatusPreconditionFailed)
		switch {
		case err != nil:
		case a.again && a.status/100 != 2: // the first may have been carried out
			err = readBack(ctx, w, name, content)
		case a.status == http.StatusPreconditionFailed:
			err = ErrExists
		case a.status == http.StatusNotFound:
			err = w.refused(a, "")
		default:
			return nil
		}
	}
	if err != nil {
		// With the connection or the permission lost it stays: a file of another name is ignored.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, _ = w.once(ctx, request{method: http.MethodDelete, url: w.base + temp, limit: 1 << 20})
	}
	return err
}

// makeFolder makes the folders of a name, but not the one of the vault.
func (w *webDAV) makeFolder(ctx context.Context, dir string) error {
	w.mu.Lock()
	made := dir == "." || w.made[dir]
	w.mu.Unlock()
	if made {
		return nil
	}
	if err := w.makeFolder(ctx, path.Dir(dir)); err != nil {
		return err
	}
	// 405: it exists.
	if _, err := w.call(ctx, request{method: "MKCOL"}, dir+"/", http.StatusCreated, http.StatusMethodNotAllowed, http.StatusOK); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made[dir] = true
	return nil
}

// Get implements Place.
func (w *webDAV) Get(ctx context.Context, name string) ([]byte, error) {
	a, err := w.call(ctx, request{method: http.MethodGet, limit: limitOf(name)}, name, http.StatusOK, http.StatusNotFound)
	if err == nil && a.status == http.StatusNotFound {
		err = ErrMissing
	}
	return a.body, err
}

// Delete implements Place.
func (w *webDAV) Delete(ctx context.Context, name string) error {
	_, err := w.call(ctx, request{method: http.MethodDelete}, name, http.StatusNoContent, http.StatusOK, http.StatusNotFound)
	return err
}

// folders matches the folders that have objects. Others, also those that a hostile server invents, are not listed.
var folders = regexp.MustCompile(`^(?:keys|devices|content|log|log/[0-9a-f]{32})$`)

// List implements Place. Most servers refuse to list all folders at once.
func (w *webDAV) List(ctx context.Context, prefix string) (out []Object, err error) {
	waiting := []string{strings.TrimSuffix(prefix, "/")}
	for n := 0; n < len(waiting); n++ {
		if n >= maxPages {
			return nil, w.fault(errTooLarge)
		}
		entries, err := w.entries(ctx, waiting[n])
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			e.Name = path.Join(waiting[n], e.Name)
			switch {
			case e.folder && folders.MatchString(e.Name) && !slices.Contains(waiting, e.Name):
				waiting = append(waiting, e.Name)
			case !e.folder && isObject(e.Name):
				out = append(out, e.Object)
			}
		}
	}
	return out, nil
}

type entry struct {
	Object // Name is the last part
	folder bool
}

const propfind = `<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>`

// multistatus is the answer to a PROPFIND.
type multistatus struct {
	XMLName   xml.Name `xml:"DAV: multistatus"`
	Responses []struct {
		Href  string `xml:"DAV: href"`
		Props []struct {
			Status   string    `xml:"DAV: status"`
			Folder   *struct{} `xml:"DAV: prop>resourcetype>collection"`
			Size     string    `xml:"DAV: prop>getcontentlength"`
			Modified string    `xml:"DAV: prop>getlastmodified"`
		} `xml:"DAV: propstat"`
	} `xml:"DAV: response"`
}

// entries lists a folder. One below the vault's that does not exist is empty.
func (w *webDAV) entries(ctx context.Context, dir string) ([]entry, error) {
	name := dir
	if dir != "" {
		name += "/"
	}
	list := request{
		method:  "PROPFIND",
		content: []byte(propfind),
		header:  http.Header{"Depth": {"1"}, "Content-Type": {"application/xml; charset=utf-8"}},
		limit:   maxPage,
	}
	a, err := w.call(ctx, list, name, http.StatusMultiStatus, http.StatusNotFound)
	if err == nil && a.status == http.StatusNotFound && dir == "" {
		err = w.refused(a, "")
	}
	if err != nil || a.status == http.StatusNotFound {
		return nil, err
	}
	var m multistatus
	if err := xml.Unmarshal(a.body, &m); err != nil {
		return nil, w.refused(a, "without a list of WebDAV")
	}
	var out []entry
	for _, r := range m.Responses {
		u, err := url.Parse(strings.TrimSpace(r.Href))
		if err != nil {
			continue
		}
		e := entry{Object: Object{Name: path.Base(u.Path)}}
		for _, p := range r.Props {
			if !strings.Contains(p.Status, " 200 ") {
				continue
			}
			e.folder = e.folder || p.Folder != nil
			size, _ := strconv.ParseInt(p.Size, 10, 64)
			e.Size = max(e.Size, size)
			if at, err := http.ParseTime(p.Modified); err == nil {
				e.Changed = at
			}
		}
		if !e.folder || e.Name != path.Base("/"+dir) {
			out = append(out, e) // the folder itself is among them
		}
	}
	return out, nil
}
