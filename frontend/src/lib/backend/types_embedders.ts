/** The shapes of backend/api/dto_embedders.go, field by field. */

/** EmbeddersView is the embedder in use and those that could be. */
export interface EmbeddersView {
  current: EmbedderView;
  /** model embedders found on this machine, and those a key is kept for */
  options: EmbedderView[];
  /** id of the option that the window proposes once; empty: none, or the user has answered */
  offer: string;
  /** passages that would be embedded */
  units: number;
  /** of them all */
  tokens: number;
}

/** EmbedderView is an embedder as a person chooses it. */
export interface EmbedderView {
  id: string;
  /** "Ollama", "OpenAI"; empty: built in, or a server that was configured by hand */
  server: string;
  model: string;
  /** where texts go: "this computer", "api.openai.com"; empty: nowhere */
  host: string;
  /** texts leave this computer */
  remote: boolean;
  /** hashed features of words */
  builtIn: boolean;
  /** US dollars for a million tokens; 0: free or not known */
  price: number;
}

/** EmbedderEstimate is what indexing all history with an embedder would take. */
export interface EmbedderEstimate {
  units: number;
  tokens: number;
  /** US dollars; -1: the price is not known; 0: it runs here */
  cost: number;
  /** at the pace that sample texts were embedded */
  ms: number;
}
