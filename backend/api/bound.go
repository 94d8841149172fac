package api

// Bound returns the services that a page may call: if the data could not be opened, only those of the page that reports
// it. The page's types are generated from the services named here (internal/pagetypes).
func Bound(core *Core) []any {
	always := []any{
		NewTransfer(core),
		NewStorage(core),
		NewSealing(core),
		NewSettings(core),
	}
	if core.Fatal != nil {
		return always
	}
	return append(always,
		NewSessions(core),
		NewChat(core),
		NewInspect(core),
		NewMemory(core),
		NewBranches(core),
		NewSearch(core),
		NewWork(core),
		NewTools(core),
		NewLibrary(core),
		NewProjects(core),
		NewEmbedders(core),
		NewServers(core),
		NewPrograms(core),
		NewSync(core),
	)
}
