-- Indexes of columns that refer to other tables. Without them each new session looked
-- through all sessions and branches for rows that refer to its branch and its state.

-- +goose Up
CREATE INDEX idx_sessions_active_branch ON sessions (active_branch);
CREATE INDEX idx_branches_base_state ON branches (base_state);
CREATE INDEX idx_branches_head_state ON branches (head_state);
CREATE INDEX idx_branches_fork_turn ON branches (fork_turn);
CREATE INDEX idx_states_session ON states (session_id);
CREATE INDEX idx_summaries_branch ON summaries (branch_id);
CREATE INDEX idx_files_turn ON files (turn_id);
CREATE INDEX idx_jobs_branch ON jobs (branch_id);
CREATE INDEX idx_pin_suggestions_session ON pin_suggestions (session_id);
