package vault

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// s3 is a Place: a bucket of an object store, or what is below a prefix in it.
type s3 struct {
	remote
	base   string // the address of the bucket
	prefix string // empty, or with a slash at its end
	now    func() time.Time

	mu     sync.Mutex
	region string
	plain  bool // the store does not know If-None-Match
}

// regions matches the hosts that contain their region.
var regions = regexp.MustCompile(`(?:^|\.)s3[.-]([a-z0-9-]+)\.[a-z0-9-]+\.[a-z.]+$|^([a-z0-9-]+)\.(?:digitaloceanspaces|your-objectstorage|linodeobjects|vultrobjects)\.com$`)

func newS3(r remote, u *url.URL) (Place, error) {
	bucket, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	query := u.Query()
	if bucket == "" || len(query) > 1 || len(query) == 1 && !query.Has("region") {
		return nil, notAnAddress()
	}
	s := &s3{remote: r, base: u.Scheme + "://" + u.Host + "/" + escaped(bucket, true), now: time.Now, region: query.Get("region")}
	if found := regions.FindStringSubmatch(u.Hostname()); s.region == "" && found != nil {
		s.region = found[1] + found[2]
	}
	if s.region == "" {
		s.region = "us-east-1" // where the store knows none; a store that has others names its own
	}
	if prefix != "" {
		s.prefix = prefix + "/"
	}
	s.sign = func(r *http.Request, content []byte) { s.signed(r, content, s.now()) }
	return s, nil
}

// s3Error is the body of a refusal.
type s3Error struct {
	Code   string
	Region string
}

var word = regexp.MustCompile(`^[A-Za-z0-9.-]{1,60}$`)

// call sends a request for an object; an empty name is the bucket. Other statuses than those that are expected are errors.
func (s *s3) call(ctx context.Context, q request, name, query string, expected ...int) (answer, s3Error, error) {
	q.url, q.limit = s.base, max(q.limit, 1<<20)
	if name != "" {
		q.url += "/" + escaped(s.prefix+name, false)
	}
	if query != "" {
		q.url += "?" + query
	}
	for moved := false; ; moved = true {
		a, err := s.send(ctx, q)
		if err != nil || slices.Contains(expected, a.status) && a.status/100 == 2 {
			return a, s3Error{}, err
		}
		var e s3Error
		_ = xml.Unmarshal(a.body, &e)
		if !word.MatchString(e.Code) {
			e.Code = ""
		}
		region := a.header.Get("X-Amz-Bucket-Region")
		if region == "" {
			region = e.Region
		}
		if !moved && word.MatchString(region) && s.inRegion(region) {
			continue
		}
		switch e.Code {
		case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
			a.status = http.StatusUnauthorized
		case "QuotaExceeded", "XMinioStorageFull", "StorageFull", "InsufficientCapacity", "ServiceQuotaExceeded":
			a.status = http.StatusInsufficientStorage
		case "EntityTooLarge":
			a.status = http.StatusRequestEntityTooLarge
		case "NoSuchBucket":
			return a, e, s.refused(a, e.Code)
		case "RequestTimeTooSkewed":
			return a, e, placeFault{chat.Errorf(chat.CodeAuth, opPlace, "%s refuses requests, because its clock and the one of this computer differ. Nothing was changed here, and nothing is lost.", s.address).
				WithHint("set the clock of this computer")}
		}
		if !slices.Contains(expected, a.status) {
			err = s.refused(a, e.Code)
		}
		return a, e, err
	}
}

// inRegion takes the region that the store named; false: it is the one already.
func (s *s3) inRegion(region string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.region != region
	s.region = region
	return changed
}

// PutNew implements Place. A name that is taken is not sent first. Stores without If-None-Match are read back: of two that
// put the same name at once, one finds the other's.
func (s *s3) PutNew(ctx context.Context, name string, content []byte) error {
	// One byte is asked for, because a refusal of HEAD does not say why.
	first := request{method: http.MethodGet, header: http.Header{"Range": {"bytes=0-0"}}, limit: limitOf(name)}
	a, _, err := s.call(ctx, first, name, "", http.StatusPartialContent, http.StatusOK, http.StatusNotFound)
	if err == nil && a.status != http.StatusNotFound {
		err = ErrExists
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	plain := s.plain
	s.mu.Unlock()
	header := http.Header{"Content-Type": {"application/octet-stream"}}
	if !plain {
		conditional := header.Clone()
		conditional.Set("If-None-Match", "*")
		a, _, err = s.call(ctx, request{method: http.MethodPut, header: conditional, content: content}, name, "",
			http.StatusOK, http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotImplemented)
		switch {
		case err != nil || a.status == http.StatusOK:
			return err
		case a.status == http.StatusConflict, a.status == http.StatusPreconditionFailed && a.again:
			return readBack(ctx, s, name, content)
		case a.status == http.StatusPreconditionFailed:
			return ErrExists
		}
		s.mu.Lock()
		s.plain = true
		s.mu.Unlock()
	}
	if _, _, err = s.call(ctx, request{method: http.MethodPut, header: header, content: content}, name, "", http.StatusOK); err != nil {
		return err
	}
	return readBack(ctx, s, name, content)
}

// Get implements Place.
func (s *s3) Get(ctx context.Context, name string) ([]byte, error) {
	a, _, err := s.call(ctx, request{method: http.MethodGet, limit: limitOf(name)}, name, "", http.StatusOK, http.StatusNotFound)
	if err == nil && a.status == http.StatusNotFound {
		err = ErrMissing
	}
	return a.body, err
}

// Delete implements Place.
func (s *s3) Delete(ctx context.Context, name string) error {
	_, _, err := s.call(ctx, request{method: http.MethodDelete}, name, "", http.StatusNoContent, http.StatusOK, http.StatusNotFound)
	return err
}

// List implements Place.
func (s *s3) List(ctx context.Context, prefix string) (out []Object, err error) {
	for token, pages := "", 0; ; pages++ {
		// The parameters are in the order in which they are signed.
		query := "list-type=2&prefix=" + escaped(s.prefix+prefix, true)
		if token != "" {
			query = "continuation-token=" + escaped(token, true) + "&" + query
		}
		a, e, err := s.call(ctx, request{method: http.MethodGet, limit: maxPage}, "", query, http.StatusOK)
		if err != nil {
			return nil, err
		}
		var page struct {
			Contents []struct {
				Key          string
				Size         int64
				LastModified time.Time
			}
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := xml.Unmarshal(a.body, &page); err != nil {
			return nil, s.refused(a, e.Code)
		}
		for _, o := range page.Contents {
			if name, ok := strings.CutPrefix(o.Key, s.prefix); ok && isObject(name) {
				out = append(out, Object{Name: name, Size: o.Size, Changed: o.LastModified})
			}
		}
		if !page.IsTruncated {
			return out, nil
		}
		if token = page.NextContinuationToken; token == "" || pages >= maxPages {
			return nil, s.refused(a, "a list without an end")
		}
	}
}

// signed adds AWS Signature Version 4 to a request, whose query is sorted and encoded.
func (s *s3) signed(r *http.Request, content []byte, now time.Time) {
	s.mu.Lock()
	region := s.region
	s.mu.Unlock()
	at := now.UTC().Format("20060102T150405Z")
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", sum)
	const names = "host;x-amz-content-sha256;x-amz-date"
	headers := "host:" + r.URL.Host + "\nx-amz-content-sha256:" + sum + "\nx-amz-date:" + at + "\n"
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers, names, sum}, "\n")
	scope := at[:8] + "/" + region + "/s3/aws4_request"
	key := []byte("AWS4" + s.password)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	signature := mac(key, fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", at, scope, sha256.Sum256([]byte(canonical))))
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s",
		s.user, scope, names, hex.EncodeToString(signature)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
