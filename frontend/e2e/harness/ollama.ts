import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

const port = 11434;
const dimension = 64;

/**
 * An Ollama on its default port: one chat model and one embedding model, whose vectors represent the words of a text.
 * It can be held, so that a test sees the state meanwhile, and made to fail.
 */
export class Ollama {
  /** The texts that were embedded, in order. */
  readonly texts: string[] = [];
  /** If set, embedding fails with this message. */
  failure = '';
  private held: Promise<void> | undefined;
  private letGo = () => {};

  private constructor(private readonly server: Server) {}

  /** Undefined if something else listens on the port. */
  static async start(): Promise<Ollama | undefined> {
    let ollama: Ollama | undefined;
    const server = createServer((request, response) => void ollama?.answer(request, response));
    const listens = await new Promise<boolean>((resolve) => server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)));
    if (!listens) return undefined;
    return (ollama = new Ollama(server));
  }

  /** Embeds no more texts until `release`. */
  hold(): void {
    this.held = new Promise((resolve) => (this.letGo = resolve));
  }

  release(): void {
    this.letGo();
    this.held = undefined;
  }

  async stop(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const say = (status: number, body: object) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/v1/models') return void say(200, { object: 'list', data: ['llama3.2:3b', 'embed-words'].map((id) => ({ id, object: 'model', owned_by: 'library' })) });
    if (request.url !== '/api/embed') return void say(404, { error: 'not found' });
    const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { input: string[] };
    await this.held;
    if (this.failure !== '') return void say(500, { error: this.failure });
    this.texts.push(...input);
    say(200, { model: 'embed-words', embeddings: input.map(vectorOf) });
  }
}

/** The same words give the same vector; no vector has length zero. */
function vectorOf(text: string): number[] {
  const vector: number[] = Array.from({ length: dimension }, (_, i) => (i === 0 ? 0.1 : 0));
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const at = [...word].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 997, 7) % dimension;
    vector[at] = vector[at]! + 1;
  }
  return vector;
}
