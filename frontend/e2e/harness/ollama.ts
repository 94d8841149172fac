import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from '@playwright/test';

const ollamaPort = 11434;
const dimension = 64;

/**
 * Starts something on Ollama's port. Another test of this run may have the port for a while. Returns undefined if something
 * else of this machine keeps it.
 */
export async function onOllamasPort<T>(start: (port: number) => Promise<T>): Promise<T | undefined> {
  let started: T | undefined;
  await expect(async () => void (started = await start(ollamaPort))).toPass({ timeout: 60_000 }).catch(() => undefined);
  return started;
}

/**
 * A fake Ollama on its default port: one chat model and one embedding model, whose vectors represent the words of a
 * text. Embedding can be held, so that a test can inspect the state in between, and can be made to fail.
 */
export class Ollama {
  /** The texts that were embedded, in order. */
  readonly texts: string[] = [];
  /** If set, embedding fails with this message. */
  failure = '';
  private released: Promise<void> | undefined;
  private resolveReleased = () => {};

  private constructor(private readonly server: Server) {}

  static async start(port: number): Promise<Ollama> {
    let ollama: Ollama | undefined;
    const server = createServer((request, response) => void ollama?.handle(request, response));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return (ollama = new Ollama(server));
  }

  /** Embeds no more texts until `release`. */
  hold(): void {
    this.released = new Promise((resolve) => (this.resolveReleased = resolve));
  }

  release(): void {
    this.resolveReleased();
    this.released = undefined;
  }

  async stop(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const reply = (status: number, body: object) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/v1/models') return void reply(200, { object: 'list', data: ['llama3.2:3b', 'embed-words'].map((id) => ({ id, object: 'model', owned_by: 'library' })) });
    if (request.url !== '/api/embed') return void reply(404, { error: 'not found' });
    const { input } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { input: string[] };
    await this.released;
    if (this.failure !== '') return void reply(500, { error: this.failure });
    this.texts.push(...input);
    reply(200, { model: 'embed-words', embeddings: input.map(vectorOf) });
  }
}

/** The same words give the same vector; no vector has length zero. */
function vectorOf(text: string): number[] {
  const vector: number[] = Array.from({ length: dimension }, (_, i) => (i === 0 ? 0.1 : 0));
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const index = [...word].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 997, 7) % dimension;
    vector[index] = vector[index]! + 1;
  }
  return vector;
}
