import { LLMock } from '@copilotkit/aimock';
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Pace {
  /** Characters per part. */
  chunkSize?: number;
  /** Drops the connection after this many events of the stream. */
  dropAfter?: number;
  /**
   * Sends this many events of the stream, then nothing until `release`, so that no test depends on the speed of the
   * machine. With several numbers it stops at each of them, and each `release` continues to the next.
   */
  holdAfter?: number | number[];
  /** The reported number of input tokens. */
  inputTokens?: number;
}

/** How an answer is forwarded. */
interface Passing {
  gates: Gate[];
  dropAfter: number;
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
 * A provider on the loopback that is not our own code: aimock, with the answers that a test defines, behind a proxy
 * that can hold an answer midway. A question is recognised by the end of the last user message, because the memory
 * block before it may quote older questions.
 */
export class Provider {
  /** The credentials received; aimock's own record does not contain them. */
  readonly keys = new Set<string>();
  /** The models that it lists; if empty, those of aimock. */
  models: readonly string[] = [];
  private readonly passing = new Map<string, Passing>();
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

  /** The address without the /v1 that OpenAI's protocols add. */
  get url(): string {
    return `http://127.0.0.1:${(this.tap.address() as AddressInfo).port}`;
  }

  answer(question: string, text: string, { chunkSize, holdAfter = [], dropAfter = Infinity, inputTokens = 10 }: Pace = {}): void {
    this.passing.delete(question); // the newest is last
    this.passing.set(question, { gates: [holdAfter].flat().map(gate), dropAfter });
    const response = { content: text, usage: { prompt_tokens: inputTokens, completion_tokens: 5, total_tokens: inputTokens + 5 } };
    this.prepend(question, response, chunkSize === undefined ? {} : { chunkSize });
  }

  /** Continues an answer that is held. */
  release(question: string): void {
    this.passing.get(question)?.gates.find((held) => !held.released)?.release();
  }

  /** The model calls tools; `then` is its answer after it has their results. */
  callsTools(question: string, text: string, calls: readonly { name: string; arguments: object }[], then: string): void {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const asked = (request: Request) => lastUserText(request).trimEnd().endsWith(question);
    const answered = (request: Request) => turnsOf(request).slice(lastUserAt(request)).some((turn) => turn.role === 'tool');
    const toolCalls = calls.map((call, i) => ({ id: `call_${i}_${question.length}`, name: call.name, arguments: JSON.stringify(call.arguments) }));
    for (const [predicate, response] of [
      [(request: Request) => asked(request) && !answered(request), { content: text, toolCalls, usage }],
      [(request: Request) => asked(request) && answered(request), { content: then, usage }],
    ] as const) this.mock.prependFixture({ match: { predicate }, response } as Parameters<LLMock['prependFixture']>[0]);
  }

  refuse(question: string, status: number, message: string): void {
    this.prepend(question, { error: { message, type: 'test_error' }, status }, {});
  }

  /** The questions received, in order, without the memory blocks before them. */
  questions(): string[] {
    return this.mock.getRequests().map((entry) => lastUserText((entry.body ?? {}) as Request).replace(/^<memory>[\s\S]*?<\/memory>\s*/, ''));
  }

  /** The body of the newest request, as aimock parsed it. */
  lastRequest(): unknown {
    return this.mock.getLastRequest()?.body;
  }

  async stop(): Promise<void> {
    for (const { gates } of this.passing.values()) for (const held of gates) held.release();
    this.tap.closeAllConnections();
    await new Promise((resolve) => this.tap.close(resolve));
    await this.mock.stop();
  }

  private prepend(question: string, response: object, pace: object): void {
    const match = { predicate: (request: Request) => lastUserText(request).trimEnd().endsWith(question) };
    this.mock.prependFixture({ match, response, ...pace } as Parameters<LLMock['prependFixture']>[0]);
  }

  /** Forwards a request to aimock, and its answer back. */
  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.headers['x-api-key'] ?? request.headers.authorization;
    if (key !== undefined) this.keys.add(String(key).replace(/^Bearer /, ''));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const target = new URL(request.url ?? '/', this.mock.url);
    if (this.models.length > 0 && target.pathname === '/v1/models') {
      response.setHeader('Content-Type', 'application/json');
      return void response.end(JSON.stringify({ object: 'list', data: this.models.map((id) => ({ id, object: 'model' })) }));
    }
    const onward = forward(target, { method: request.method, headers: { ...request.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      void this.give(answer, response, this.passingOf(body));
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }

  private passingOf(body: Buffer): Passing {
    const question = body.length === 0 ? '' : lastUserText(JSON.parse(body.toString('utf8')) as Request).trimEnd();
    return [...this.passing].findLast(([asked]) => question.endsWith(asked))?.[1] ?? { gates: [], dropAfter: Infinity };
  }

  /** Forwards an answer event by event: up to each gate, or up to where the connection is dropped. */
  private async give(answer: IncomingMessage, response: ServerResponse, { gates, dropAfter }: Passing): Promise<void> {
    let events = 0;
    try {
      for await (const chunk of answer) {
        for (const piece of (chunk as Buffer).toString('latin1').split(/(?<=\n\n)/)) {
          for (const held of gates) if (events >= held.events) await held.open;
          await written(response, Buffer.from(piece, 'latin1'));
          if (piece.endsWith('\n\n')) events++;
          if (events >= dropAfter) return void response.destroy();
        }
      }
      response.end();
    } catch {
      response.destroy();
    }
  }
}

/** Writes, and waits until the data has left this process, so that it is not lost when the connection is dropped. */
function written(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => response.write(piece, (error) => (error ? reject(error) : resolve())));
}

function turnsOf(request: Request): Message[] {
  const turns = request.messages ?? request.input ?? [];
  return typeof turns === 'string' ? [{ role: 'user', content: turns }] : turns;
}

function lastUserAt(request: Request): number {
  return Math.max(0, turnsOf(request).findLastIndex((message) => message.role === 'user'));
}

function lastUserText(request: Request): string {
  const last = turnsOf(request).filter((message) => message.role === 'user').at(-1);
  if (typeof last?.content === 'string') return last.content;
  if (!Array.isArray(last?.content)) return '';
  return last.content.map((part: { text?: string }) => part.text ?? '').join('\n');
}
