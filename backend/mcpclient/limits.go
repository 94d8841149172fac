package mcpclient

import "time"

// Limits are the limits for a server. A zero field has its default.
type Limits struct {
	Frame       int           // bytes per message; 16 MiB
	Pages       int           // per list; 100
	Tools       int           // 500
	Prompts     int           // 500
	Resources   int           // 2 000
	Schema      int           // bytes per schema; 64 KiB
	Description int           // bytes per description; 16 KiB
	Definitions int           // bytes of all definitions of a server; 1 MiB
	LogBytes    int           // of a server's log; 256 KiB
	LogLine     int           // bytes per line; 4 KiB
	Questions   int           // open questions per server; 4
	Start       time.Duration // until it must be ready; 90 s, because npx may have to download it first
	Discover    time.Duration // until it must respond in the newer protocol; 10 s
	StartWait   time.Duration // how long a turn waits for servers that are starting; 10 s
	List        time.Duration // per list with all pages; 30 s
	Ask         time.Duration // how long a question waits for an answer; 10 min
	SignIn      time.Duration // 5 min
	Write       time.Duration // until a program must have read what it is sent; 1 min
	Terminate   time.Duration // between the steps of ending a process; 2 s
	Debounce    time.Duration // after a change of a list; 300 ms
	Backoff     time.Duration // before the first restart, doubled each time; 1 s
	MaxBackoff  time.Duration // 1 min
	StableAfter time.Duration // uptime after which the count of failures starts over; 1 min
	Failures    int           // in a row, until it is no longer restarted automatically; 5
}

func setDefault[T int | time.Duration](value *T, byDefault T) {
	if *value == 0 {
		*value = byDefault
	}
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Frame, 16<<20)
	setDefault(&l.Pages, 100)
	setDefault(&l.Tools, 500)
	setDefault(&l.Prompts, 500)
	setDefault(&l.Resources, 2000)
	setDefault(&l.Schema, 64<<10)
	setDefault(&l.Description, 16<<10)
	setDefault(&l.Definitions, 1<<20)
	setDefault(&l.LogBytes, 256<<10)
	setDefault(&l.LogLine, 4<<10)
	setDefault(&l.Questions, 4)
	setDefault(&l.Start, 90*time.Second)
	setDefault(&l.Discover, 10*time.Second)
	setDefault(&l.StartWait, 10*time.Second)
	setDefault(&l.List, 30*time.Second)
	setDefault(&l.Ask, 10*time.Minute)
	setDefault(&l.SignIn, 5*time.Minute)
	setDefault(&l.Write, time.Minute)
	setDefault(&l.Terminate, 2*time.Second)
	setDefault(&l.Debounce, 300*time.Millisecond)
	setDefault(&l.Backoff, time.Second)
	setDefault(&l.MaxBackoff, time.Minute)
	setDefault(&l.StableAfter, time.Minute)
	setDefault(&l.Failures, 5)
	return l
}
