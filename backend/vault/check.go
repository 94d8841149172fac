package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"contextinfinity/backend/chat"
)

// Device is a device that writes to the vault.
type Device struct {
	Name    string `json:"name"`
	Log     string `json:"log"` // its name in the vault
	This    bool   `json:"this"`
	Files   int64  `json:"files"` // in the vault
	Known   int64  `json:"known"` // of these, applied here completely; of this device: written
	Bytes   int64  `json:"bytes"`
	Written string `json:"written"` // when the last file came to the folder; empty: there is none
	Removed bool   `json:"removed"` // what it writes does not count any more
}

// Status is what is known of the vault without reading its files.
type Status struct {
	Address string
	Devices []Device
	Unsent  bool // there may be something to send
	Running int  // sessions that are sent when their answers are complete
	// Deletions are the permanent deletions that the vault and its devices have not carried out completely.
	Deletions []Deletion
}

// Status lists the vault, also while it is used.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	x, err := v.open(ctx)
	if err != nil {
		return Status{}, err
	}
	deletions, err := x.deletions()
	if err != nil {
		return Status{}, err
	}
	unsent, err := v.Store.Unsent(ctx, 0)
	return Status{Address: x.state.Address, Devices: x.devices(), Unsent: unsent.More, Running: len(unsent.Running), Deletions: deletions}, err
}

// devices describes the logs, this device's first, then by name.
func (x *exchange) devices() []Device {
	var out []Device
	for device, files := range x.logs {
		d := Device{Name: x.nameOf(device), Log: device, This: device == x.own, Removed: x.removed(device), Files: int64(len(files)), Known: x.at(device).Number - int64(len(x.state.Waiting[device]))}
		for _, o := range files {
			d.Bytes += o.Size
			d.Written = max(d.Written, chat.FormatTime(o.Changed))
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Device) int {
		if a.This != b.This {
			if a.This {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Log, b.Log))
	})
	return out
}

// Checked is the result of Check.
type Checked struct {
	Devices  int
	Files    int
	Events   int
	Bytes    int64 // of the logs
	Problems []error
}

// Check reads back everything in the vault, this device's files too, and changes nothing.
func (v *Vault) Check(ctx context.Context) (Checked, error) {
	ctx, done, err := v.use(ctx, opSync)
	if err != nil {
		return Checked{}, err
	}
	defer done()
	out, err := v.checkAll(ctx)
	if ctx.Err() != nil {
		err = chat.WrapError(chat.CodeCancelled, opSync, ctx.Err(), "The check was stopped.")
	}
	return out, err
}

func (v *Vault) checkAll(ctx context.Context) (out Checked, err error) {
	x, err := v.open(ctx)
	if err != nil {
		return out, err
	}
	for _, d := range x.devices() {
		out.Devices++
		out.Bytes += d.Bytes
		last := max(x.last(d.Log), d.Known)
		for at := (position{Sum: make([]byte, sha256.Size)}); at.Number < last; {
			f, err := x.follow(d.Log, at, x.leave())
			if err != nil && !x.named(d.Log, at.Number+1, last, err) {
				return out, placeError(opSync, x.state.Address, err)
			}
			if err != nil { // what follows cannot be checked without it
				break
			}
			out.Files++
			for _, s := range f.segments {
				out.Events += len(s.Parcels)
			}
			at = position{f.Number, f.sum()}
		}
	}
	for device := range x.snapshots {
		if x.removed(device) {
			continue
		}
		if _, _, _, err := x.readSnapshot(device); err != nil {
			return out, placeError(opSync, x.state.Address, err)
		}
	}
	out.Problems = x.report.Problems
	return out, nil
}
