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

// What belongs to no session, such as assistants and saved prompts, is small and changes often. So each device keeps all
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
	// TakeValues takes what is newer than here; keep: what was deleted elsewhere stays. refused says why some of it was not taken.
	TakeValues(ctx context.Context, list []bundle.Value, keep bool) (changed int, refused []error, err error)
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

// readSnapshot returns the last values of a device, and where they are; false: they cannot be read, which was reported. Those that
// are sealed with an older key do not count, and have no number: who made the newest knew them, and their device sends them again.
func (x *exchange) readSnapshot(device string) (s snapshot, at position, ok bool, err error) {
	at.Number = slices.Max(x.snapshots[device])
	name := snapshotName(device, at.Number)
	if _, older := x.tried.Load(name); older && device != x.box.late {
		return s, position{}, true, nil
	}
	text, older, err := x.box.open(x.ctx, name)
	switch {
	case err != nil:
	case older && device != x.box.late:
		x.tried.Store(name, trial{})
		return s, position{}, true, nil
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
	if errors.Is(err, errNewer) {
		x.problem(chat.Errorf(chat.CodeNewer, opSync, "%s: its assistants and prompts were written by a newer version of this program. They are taken when that is possible; nothing else is affected.", x.nameOf(device)).
			WithHint("update the program on this computer"))
	} else if err != nil {
		x.problem(chat.WrapError(chat.CodeCorrupt, opSync, err, "%s: its assistants and prompts cannot be read: %v. They are taken when that is possible; nothing else is affected.", x.nameOf(device), err).
			WithHint("wait until the folder is synchronized completely, or take the file from another copy of the folder"))
	}
	if older { // whoever has an older key may have written it
		s.Values = slices.DeleteFunc(s.Values, func(v bundle.Value) bool { return v.Deleted })
	}
	at.Sum = sumOf(s.Values)
	return s, at, err == nil, nil
}

// sumOf tells lists of values from each other.
func sumOf(list []bundle.Value) []byte {
	h := sha256.New()
	for _, v := range list {
		fmt.Fprintf(h, "%q %q %d %q %t %d\n", v.Kind, v.ID, v.Revision, v.Device, v.Deleted, len(v.Body))
		h.Write(v.Body)
	}
	return h.Sum(nil)
}

// exchangeValues takes the values of the others, and sends those of this device. What cannot be read here is a problem: then nothing
// is concluded about values, and the logs are not affected.
func (x *exchange) exchangeValues() error {
	all, changed, err := x.takeValues("")
	if err == nil {
		err = x.sendValues(all, changed)
	}
	if !ofPart(err) {
		return err
	}
	x.problem(chat.WrapError(chat.CodeOf(err), opSync, err, "The assistants and saved prompts here were not exchanged; nothing else is affected. %v", err))
	return nil
}

// refused is what was not taken the last time. It is the same again while nothing was changed here or there.
type refused struct {
	unread   map[string]int64
	problems []error
}

// takeValues takes what the other devices changed, or only one of them, and returns all, and how much was changed here.
func (x *exchange) takeValues(only string) (all []bundle.Value, changed int, err error) {
	all, changed, err = x.Records.Values(x.ctx)
	if err != nil {
		return nil, 0, err
	}
	unread := map[string]int64{}
	for device, numbers := range x.snapshots {
		if number := slices.Max(numbers); x.state.Values[device] != number && !x.removed(device) && (only == "" || device == only) {
			unread[device] = number
		}
	}
	if changed == 0 && len(x.refused.problems) > 0 && maps.Equal(unread, x.refused.unread) {
		x.report.Problems = append(x.report.Problems, x.refused.problems...)
		return all, 0, nil
	}
	x.refused = refused{}
	read, whole := map[string]int64{}, only == ""
	var coming []bundle.Value
	for _, device := range slices.Sorted(maps.Keys(unread)) {
		s, at, ok, err := x.readSnapshot(device)
		if err != nil {
			return nil, 0, err
		}
		if whole = whole && ok; ok && at.Number > 0 {
			if device == x.own { // it was not remembered, or a copy of this data wrote it
				x.state.Sent = at
			}
			read[device] = at.Number
			coming = append(coming, s.Values...)
		}
	}
	whole = whole && (len(read) > 0 || len(unread) == 0) // some of what does not count may have come again
	if len(coming) > 0 {
		// Data that was restored or copied, or is new in the vault, has what others deleted before they knew that.
		taken, problems, err := x.Records.TakeValues(x.ctx, coming, !x.state.Met)
		if err != nil {
			return nil, 0, err
		}
		if x.report.ReceivedValues += taken; taken > 0 && x.Valued != nil {
			x.Valued()
		}
		x.report.Problems = append(x.report.Problems, problems...)
		if len(problems) > 0 {
			read = nil // again when something is changed
			if whole {
				x.refused = refused{unread, problems}
			}
		}
		more := 0
		if all, more, err = x.Records.Values(x.ctx); err != nil { // two of one name are a change
			return nil, 0, err
		}
		changed += more
	}
	if len(read) == 0 && (x.state.Met || !whole) {
		return all, changed, nil
	}
	if x.state.Values == nil {
		x.state.Values = map[string]int64{}
	}
	maps.Copy(x.state.Values, read)
	x.state.Met = x.state.Met || whole
	return all, changed, x.put(x.ctx, x.state, nil)
}

// fitting leaves out the largest bodies if all have more than a number of bytes: what was deleted is sent in any case.
func fitting(all []bundle.Value, most int) []bundle.Value {
	const around = 256 // more than is written around a body
	size := len(all) * around
	for _, v := range all {
		size += len(v.Body)
	}
	if size <= most {
		return all
	}
	bySize := slices.Clone(all)
	slices.SortStableFunc(bySize, func(a, b bundle.Value) int { return len(b.Body) - len(a.Body) })
	for size > most && len(bySize) > 0 {
		size -= len(bySize[0].Body) + around
		bySize = bySize[1:]
	}
	return bySize
}

// sendValues replaces the values of this device if they have changed, or if the vault has others under its name.
func (x *exchange) sendValues(all []bundle.Value, changed int) error {
	if x.removed(x.own) { // they are sent under its new name
		return nil
	}
	there, sum := slices.Max(append(x.snapshots[x.own], 0)), sumOf(all)
	fit := fitting(all, largestSnapshot)
	if len(fit) < len(all) {
		x.problem(chat.Errorf(chat.CodeTooLarge, opSync, "The assistants and saved prompts have more than %d MB. The %d largest are not sent.", largestSnapshot>>20, len(all)-len(fit)).
			WithHint("delete those that you do not use"))
	}
	if last := x.state.Sent; (there != last.Number || !bytes.Equal(last.Sum, sum)) && (len(all) > 0 || there > 0 || x.last(x.own) == 0) { // the others know of a device without a log by its values
		id, _ := x.Store.ThisDevice()
		text, err := chat.MarshalJSON(snapshot{formatVersion, id, fit})
		if err != nil {
			return err
		}
		next := max(there, last.Number) + 1
		if next > maxSnapshot {
			x.problem(chat.Errorf(chat.CodeCorrupt, opSync, "The assistants and saved prompts are not sent, because no number is left after %s, which this program did not write.", snapshotName(x.own, there)).
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
		x.report.SentValues, x.report.SentBytes = changed, x.report.SentBytes+n
		x.snapshots[x.own] = append(x.snapshots[x.own], next)
		x.state.Sent = position{next, sum}
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
