import { LLMock } from '@copilotkit/aimock';
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Pace {
  /** Characters a piece. */
  chunkSize?: number;
  /** Milliseconds between pieces. */
  latency?: number;
  /** Drop the connection after so many pieces. */
  truncateAfterChunks?: number;
  /**
   * Send so many events of the stream, then nothing more until `release`: no test depends on a machine's speed. Of
   * several numbers each holds, and each `release` goes on to the next.
   */
  holdAfter?: number | number[];
}

interface Gate {
  events: number;
  open: Promise<void>;
  released: boolean;
  release: () => void;
}

function gate(events: number): Gate {
  let open = () => {};
  const made: Gate = {
    events,
    open: new Promise<void>((resolve) => (open = resolve)),
    released: false,
    release: () => {
      made.released = true;
      open();
    },
  };
  return made;
}

type Request = { messages?: Message[]; input?: Message[] | string };
type Message = { role?: string; content?: unknown };

/**
 * A provider on the loopback that no one here wrote: aimock, with the answers a test gives it, behind a tap that can hold
 * an answer half-way. A question is matched by the end of the last user message, because in front of it stands the memory
 * block, which may quote older questions.
 */
export class Provider {
  /** Credentials that arrived; aimock's own record leaves them out. */
  readonly keys = new Set<string>();
  private readonly gates = new Map<string, Gate[]>();
  private readonly tap: Server;

  private constructor(private readonly mock: LLMock) {
    this.tap = createServer((request, response) => void this.pass(request, response));
  }

  static start(): Promise<Provider> {
    return Provider.startAt(0);
  }

  static async startAt(port: number): Promise<Provider> {
    const provider = new Provider(new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 12 }));
    await new Promise<void>((resolve, reject) => provider.tap.once('error', reject).listen(port, '127.0.0.1', resolve));
    await provider.mock.start();
    return provider;
  }

  /** Address without the /v1 that OpenAI's protocols add. */
  get url(): string {
    return `http://127.0.0.1:${(this.tap.address() as AddressInfo).port}`;
  }

  answer(question: string, text: string, { holdAfter, ...pace }: Pace = {}): void {
    if (holdAfter !== undefined) this.gates.set(question, [holdAfter].flat().map(gate));
    const response = { content: text, usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    this.prepend(question, response, pace);
  }

  /** Lets an answer that is held go on. */
  release(question: string): void {
    this.gates.get(question)?.find((held) => !held.released)?.release();
  }

  refuse(question: string, status: number, message: string): void {
    this.prepend(question, { error: { message, type: 'test_error' }, status }, {});
  }

  /** The questions that arrived, in order. */
  questions(): string[] {
    return this.mock.getRequests().map((entry) => lastUserText((entry.body ?? {}) as Request));
  }

  /** The newest request's body, as the mock read it. */
  lastRequest(): unknown {
    return this.mock.getLastRequest()?.body;
  }

  async stop(): Promise<void> {
    for (const held of [...this.gates.values()].flat()) held.release();
    this.tap.closeAllConnections();
    await new Promise((resolve) => this.tap.close(resolve));
    await this.mock.stop();
  }

  private prepend(question: string, response: object, pace: object): void {
    const match = { predicate: (request: Request) => lastUserText(request).trimEnd().endsWith(question) };
    this.mock.prependFixture({ match, response, ...pace } as Parameters<LLMock['prependFixture']>[0]);
  }

  /** Hands a request on to the mock, and its answer back. */
  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.headers['x-api-key'] ?? request.headers.authorization;
    if (key !== undefined) this.keys.add(String(key).replace(/^Bearer /, ''));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const target = new URL(request.url ?? '/', this.mock.url);
    const onward = forward(target, { method: request.method, headers: { ...request.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      void this.give(answer, response, this.gatesFor(body));
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }

  private gatesFor(body: Buffer): Gate[] {
    const question = body.length === 0 ? '' : lastUserText(JSON.parse(body.toString('utf8')) as Request).trimEnd();
    return [...this.gates].find(([asked]) => question.endsWith(asked))?.[1] ?? [];
  }

  /** Copies an answer; a held one event by event, up to each gate. A connection the mock drops is dropped here too. */
  private async give(answer: IncomingMessage, response: ServerResponse, gates: Gate[]): Promise<void> {
    let events = 0;
    try {
      for await (const chunk of answer) {
        for (const piece of (chunk as Buffer).toString('latin1').split(/(?<=\n\n)/)) {
          for (const held of gates) if (events >= held.events) await held.open;
          response.write(Buffer.from(piece, 'latin1'));
          if (piece.endsWith('\n\n')) events++;
        }
      }
      response.end();
    } catch {
      response.destroy();
    }
  }
}

function lastUserText(request: Request): string {
  const turns = request.messages ?? request.input ?? [];
  if (typeof turns === 'string') return turns;
  const last = turns.filter((message) => message.role === 'user').at(-1);
  if (typeof last?.content === 'string') return last.content;
  if (!Array.isArray(last?.content)) return '';
  return last.content.map((part: { text?: string }) => part.text ?? '').join('\n');
}
