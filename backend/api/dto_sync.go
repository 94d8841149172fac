package api

// SyncView is what is known of the vault that several computers share. A change of kind "vault" announces updates.
type SyncView struct {
	Connected bool   `json:"connected"`
	Address   string `json:"address"`   // a folder, or where a server has it
	User      string `json:"user"`      // of the server; empty: none is needed
	Automatic bool   `json:"automatic"` // exchanges happen without being asked for
	Paused    bool   `json:"paused"`    // not now, because background work is paused
	Attention bool   `json:"attention"` // something is not as it should be, and does not pass by itself

	Busy        bool  `json:"busy"`        // an exchange is running
	Read        int64 `json:"read"`        // files of other computers that it has read
	All         int64 `json:"all"`         // files of other computers that it has to read
	Turns       int   `json:"turns"`       // that came with it, or with the last one
	ExchangedAt int64 `json:"exchangedAt"` // the last exchange without an error; 0: there was none
	Waiting     int   `json:"waiting"`     // sessions that are sent when their answers are complete

	Error    *ErrorView   `json:"error"`    // the last exchange ended with it
	Problems []ErrorView  `json:"problems"` // each says what waits
	Devices  []SyncDevice `json:"devices"`  // empty: not known before the first exchange of this run
}

// SyncDevice is a computer that writes to the vault.
type SyncDevice struct {
	Name      string `json:"name"`
	Log       string `json:"log"` // its name in the vault
	This      bool   `json:"this"`
	Removed   bool   `json:"removed"`   // what it writes counts no more
	Files     int64  `json:"files"`     // in the vault
	Known     int64  `json:"known"`     // of these, here; of this computer: sent
	WrittenAt int64  `json:"writtenAt"` // the last file; 0: there is none
}

// SyncPlace is where a vault is, and as whom that place is used.
type SyncPlace struct {
	Address  string `json:"address"`
	User     string `json:"user"`
	Password string `json:"password"`
}
