package api

import (
	"contextinfinity/backend/autostart"
	"contextinfinity/backend/chat"
)

// Autostart returns whether the system starts the program at sign-in. It is read from the system.
func (s *Settings) Autostart() (AutostartView, error) {
	entry, err := s.autostart()
	if err != nil {
		return AutostartView{Reason: chat.AsError(err).Said()}, nil
	}
	state, err := entry.State()
	return AutostartView{On: state.On, Other: state.Other, Place: state.Place}, err
}

// SetAutostart creates or removes the system's entry, and returns the resulting state.
//
// Errors: CodeUnavailable, if the system does not support it or refuses.
func (s *Settings) SetAutostart(on bool) (AutostartView, error) {
	entry, err := s.autostart()
	if err != nil {
		return AutostartView{}, err
	}
	if err := entry.Set(on); err != nil {
		return AutostartView{}, err
	}
	return s.Autostart()
}

func (s *Settings) autostart() (*autostart.Entry, error) {
	if s.c.Autostart == nil {
		return nil, chat.Errorf(chat.CodeUnavailable, "settings.autostart", "Starting at sign-in is not available here.")
	}
	return s.c.Autostart()
}
