package app

import (
	"encoding/json"
	"os"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/secrets"
)

// handover is what a process that starts the program again gives to it, through a pipe on its standard input. No
// argument, variable or file ever has the passphrase.
type handover struct {
	Secret string   `json:"secret"` // opened the sealed data; empty: nothing, or the keyring
	Key    seal.Key `json:"key"`    // of the data, so that the passphrase is not computed again; zeros: it is locked
	Hidden bool     `json:"hidden"` // the window was in the tray, and stays there
	Reseal *reseal  `json:"reseal"` // what is done before the data is opened; nil: nothing
}

// handoverMark tells the next process that its standard input is a handover.
const handoverMark = "CONTEXTINFINITY_HANDOVER"

// handedOver returns what opens the data now.
func handedOver() handover {
	_, key, _ := seal.Current()
	return handover{Secret: seal.Offered(), Key: key}
}

// pipe returns the standard input of the next process, and its environment. The caller closes the pipe.
func (h handover) pipe() (*os.File, []string, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	_, err = w.Write(text) // less than any pipe holds
	_ = w.Close()
	return r, append(secrets.Environ(), handoverMark+"=1"), err
}

// takeHandover returns what an earlier process handed over. Its passphrase replaces that of the options.
func takeHandover(o *cli.OpenOptions) (h handover) {
	if os.Getenv(handoverMark) == "" {
		return h
	}
	_ = os.Unsetenv(handoverMark)
	if err := json.NewDecoder(os.Stdin).Decode(&h); err != nil {
		h = handover{} // it begins locked
	}
	o.Passphrase = h.Secret
	if h.Key != (seal.Key{}) {
		seal.Know(h.Key)
	}
	o.Hidden = o.Hidden || h.Hidden
	return h
}
