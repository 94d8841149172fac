/** The shapes of backend/api/dto_library.go, field by field. */

/** LibraryPanel is what a person keeps for use in many sessions. */
export interface LibraryPanel {
  rev: number;
  /** by name */
  assistants: AssistantView[];
  /** by name */
  prompts: SavedPromptView[];
}

/** AssistantView is a named preset. An empty id: it is new. */
export interface AssistantView {
  id: string;
  name: string;
  /** empty: the default instructions */
  instructions: string;
  /** empty: the session keeps its own */
  model: string;
  /** a number from 0 to 2, or empty for the model's default */
  temperature: string;
  /** "", minimal, low, medium, high */
  effort: string;
  /** "", disabled, parse_only, enabled */
  toolsMode: string;
}

/** SavedPromptView is a named text with variables. An empty id: it is new. */
export interface SavedPromptView {
  id: string;
  name: string;
  text: string;
  /** in the order in which they first appear */
  variables: PromptVariableView[];
}

/** PromptVariableView is a place in a saved prompt that is filled in when it is used. */
export interface PromptVariableView {
  name: string;
  default: string;
  /** date, clipboard, selection */
  builtin: boolean;
}

/** SessionAssistantView is the assistant whose settings a session was given last. */
export interface SessionAssistantView {
  /** empty: none */
  id: string;
  /** as it is called now, or was called then */
  name: string;
  /** it is in the library */
  known: boolean;
  /** applying it would change the session's settings */
  differs: boolean;
}

/** PromptsImported is what an import of prompts did. */
export interface PromptsImported {
  added: number;
  /** were there already, with the same name and text */
  known: number;
}
