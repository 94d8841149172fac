package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

// What belongs to no session, such as assistants, saved prompts and projects, is small and changes often. So each device keeps all
// that it knows of it in one object, and replaces that by another one with the next number: what was deleted leaves the
// vault. The objects stand beside the files of the log, so that they are in the same list.

// snapshots matches their names.
var snapshots = regexp.MustCompile(`^log/([0-9a-f]{32})/values-([0-9]{8})$`)

func snapshotName(device string, number int64) string {
	return fmt.Sprintf("%s%s/values-%08d", logDir, device, number)
}

// Records are what this device has outside of sessions.
type Records interface {
	// Values returns all that travels, also what was deleted, and how much was changed since the last call.
	Values(ctx context.Context) (all []bundle.Value, changed int, err error)
	// TakeValues takes what is newer than here; keep: what was deleted elsewhere stays, except documents of projects.
	TakeValues(ctx context.Context, list []bundle.Value, keep bool) (bundle.TakenValues, error)
	// DropFile removes a session from its project, if it is a file of one.
	DropFile(ctx context.Context, session chat.SessionID) (file bool, err error)
}

// snapshot is the content of such an object.
type snapshot struct {
	Version int            `json:"version"`
	Device  string         `json:"device"`
	Values  []bundle.Value `json:"values"`
}

// largestSnapshot is in bytes before compression.
const largestSnapshot = 64 << 20

// maxSnapshot is the highest number that a name has room for.
const maxSnapshot = 99_999_999

// listSnapshot notes an object if it is one.
func (x *exchange) listSnapshot(name string) {
	if m := snapshots.FindStringSubmatch(name); m != nil {
		if number, err := strconv.ParseInt(m[2], 10, 64); err == nil && number > 0 {
			x.snapshots[m[1]] = append(x.snapshots[m[1]], number)
		}
	}
}

// readSnapshot returns the last values of a device, and where they are; false: they cannot be read, which was reported, or do not
// count, because they are sealed with an older key: who made the newest knew them, and their device sends them again.
func (x *exchange) readSnapshot(device string) (s snapshot, at position, ok bool, err error) {
	at.Number = slices.Max(x.snapshots[device])
	text, older, err := x.box.open(x.ctx, snapshotName(device, at.Number))
	switch {
	case err != nil:
	case older && device != x.box.late:
		return s, at, false, nil
	case len(text) > largestSnapshot || json.Unmarshal(text, &s) != nil:
		err = errDamaged
	case s.Version > formatVersion:
		err = errNewer
	case x.box.deviceName(s.Device) != device:
		err = errDamaged
	}
	if _, whole := errors.AsType[placeFault](err); whole || x.ctx.Err() != nil {
		return s, at, false, err
	}
	if errors.Is(err, ErrMissing) { // its device has just replaced it
		return s, at, false, nil
	}
	if err != nil {
		x.problem(chat.WrapError(chat.CodeCorrupt, opSync, err, "%s: its assistants, prompts and projects cannot be read: %v. They are taken when that is possible; nothing else is affected.", x.nameOf(device), err).
			WithHint("wait until the folder is synchronized completely, or take the file from another copy of the folder"))
	}
	if older { // whoever has an older key may have written it
		s.Values = slices.DeleteFunc(s.Values, func(v bundle.Value) bool { return v.Deleted })
	}
	sum := sha256.Sum256(text)
	at.Sum = sum[:]
	return s, at, err == nil, nil
}

// takeValues takes what the other devices changed. Before the logs were read, some of it may not fit yet; final names that.
func (x *exchange) takeValues(final bool) error {
	_, changed, err := x.Records.Values(x.ctx) // what was changed here before
	if err != nil {
		return err
	}
	x.changed += changed
	problems := len(x.report.Problems)
	read := map[string]int64{}
	var coming []bundle.Value
	for _, device := range slices.Sorted(maps.Keys(x.snapshots)) {
		if x.removed(device) || x.state.Values[device] == slices.Max(x.snapshots[device]) {
			continue
		}
		s, at, ok, err := x.readSnapshot(device)
		if err != nil {
			return err
		}
		if ok {
			if device == x.own { // it was not remembered, or a copy of this data wrote it
				x.state.Sent = at
			}
			read[device] = at.Number
			coming = append(coming, s.Values...)
		}
	}
	// Data that was restored or copied, or is new in the vault, has what others deleted before they knew that.
	taken, err := x.Records.TakeValues(x.ctx, coming, x.state.Exchanged == "")
	if err != nil {
		return err
	}
	for _, id := range taken.Projects {
		if receipt, err := x.DeleteProject(x.ctx, id); err == nil || receipt.ID != "" { // the rest is done at the next start
			taken.Changed++
		} else if chat.CodeOf(err) == chat.CodeConflict {
			taken.Left = append(taken.Left, err)
		} else {
			return err
		}
	}
	if x.report.ReceivedValues += taken.Changed; taken.Changed > 0 && x.Valued != nil {
		x.Valued()
	}
	if !final {
		x.report.Problems = x.report.Problems[:problems]
		return nil
	}
	for _, err := range taken.Left {
		x.report.Problems = append(x.report.Problems, err)
	}
	if len(taken.Left) > 0 || len(read) == 0 { // otherwise they are read again
		return nil
	}
	if x.state.Values == nil {
		x.state.Values = map[string]int64{}
	}
	maps.Copy(x.state.Values, read)
	return x.put(x.ctx, x.state, nil)
}

// sendValues replaces the values of this device if they have changed, or if the vault has others under its name.
func (x *exchange) sendValues() error {
	all, changed, err := x.Records.Values(x.ctx)
	if err != nil {
		return err
	}
	id, _ := x.Store.ThisDevice()
	text, err := chat.MarshalJSON(snapshot{formatVersion, id, all})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	there := slices.Max(append(x.snapshots[x.own], 0))
	if last := x.state.Sent; there != last.Number || !bytes.Equal(last.Sum, sum[:]) {
		next := max(there, last.Number) + 1
		switch {
		case len(all) == 0 && there == 0 && x.last(x.own) > 0: // otherwise the others know of it by this object
			return nil
		case len(text) > largestSnapshot:
			x.problem(chat.Errorf(chat.CodeTooLarge, opSync, "The assistants, prompts and projects have more than %d MB, so they are not sent.", largestSnapshot>>20).
				WithHint("delete those that you do not use"))
			return nil
		case next > maxSnapshot:
			x.problem(chat.Errorf(chat.CodeCorrupt, opSync, "The assistants, prompts and projects are not sent, because no number is left after %s, which this program did not write.", snapshotName(x.own, there)).
				WithHint("delete this file in the place"))
			return nil
		}
		n, err := x.box.put(x.ctx, snapshotName(x.own, next), text)
		if errors.Is(err, ErrExists) { // a copy of this data was faster: the next exchange reads it
			return nil
		}
		if err != nil {
			return err
		}
		x.report.SentValues, x.report.SentBytes = x.changed+changed, x.report.SentBytes+n
		x.snapshots[x.own] = append(x.snapshots[x.own], next)
		x.state.Sent = position{next, sum[:]}
		if x.state.Values == nil {
			x.state.Values = map[string]int64{}
		}
		x.state.Values[x.own] = next
		if err := x.put(x.ctx, x.state, nil); err != nil {
			return err
		}
	}
	for device, numbers := range x.snapshots {
		for _, number := range numbers {
			if device == x.own && number < x.state.Sent.Number || x.removed(device) {
				if err := x.box.place.Delete(x.ctx, snapshotName(device, number)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
