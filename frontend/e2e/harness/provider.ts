import { LLMock } from '@copilotkit/aimock';
import { createServer, type IncomingMessage, request as sendRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Pace {
  /** Characters per part. */
  chunkSize?: number;
  /** Drops the connection after this many events of the stream. */
  dropAfter?: number;
  /**
   * Sends this many events of the stream and holds the rest until `release`, so that no test depends on the speed of
   * the machine. With several numbers it holds at each of them, and each `release` continues to the next.
   */
  holdAfter?: number | number[];
  /** The reported number of input tokens. */
  inputTokens?: number;
}

/** How an answer is forwarded. */
interface Forwarding {
  gates: Gate[];
  dropAfter: number;
}

interface Gate {
  events: number;
  open: Promise<void>;
  released: boolean;
  release: () => void;
}

function newGate(events: number): Gate {
  let open = () => {};
  const gate: Gate = {
    events,
    open: new Promise<void>((resolve) => (open = resolve)),
    released: false,
    release: () => {
      gate.released = true;
      open();
    },
  };
  return gate;
}

type Request = { messages?: Message[]; input?: Message[] | string };
type Message = { role?: string; content?: unknown };

/**
 * A provider on the loopback interface that is not our own code: aimock, with the answers that a test defines, behind a
 * proxy that can hold an answer midway. A question is recognized by the end of the last user message, because the
 * memory block before it may quote older questions.
 */
export class Provider {
  /** The credentials received; aimock's own record does not contain them. */
  readonly keys = new Set<string>();
  /** The models that the provider lists; if empty, those of aimock. */
  models: readonly string[] = [];
  private readonly forwardings = new Map<string, Forwarding>();
  private readonly proxy: Server;

  private constructor(private readonly mock: LLMock) {
    this.proxy = createServer((request, response) => void this.forwardRequest(request, response));
  }

  static start(): Promise<Provider> {
    return Provider.startAt(0);
  }

  static async startAt(port: number): Promise<Provider> {
    const provider = new Provider(new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 12 }));
    await new Promise<void>((resolve, reject) => provider.proxy.once('error', reject).listen(port, '127.0.0.1', resolve));
    await provider.mock.start();
    return provider;
  }

  /** The address without the /v1 that OpenAI's protocols add. */
  get url(): string {
    return `http://127.0.0.1:${(this.proxy.address() as AddressInfo).port}`;
  }

  answer(question: string, text: string, { chunkSize, holdAfter = [], dropAfter = Infinity, inputTokens = 10 }: Pace = {}): void {
    this.forwardings.delete(question); // so that the newest is last
    this.forwardings.set(question, { gates: [holdAfter].flat().map(newGate), dropAfter });
    const response = { content: text, usage: { prompt_tokens: inputTokens, completion_tokens: 5, total_tokens: inputTokens + 5 } };
    this.prepend(question, response, chunkSize === undefined ? {} : { chunkSize });
  }

  /** Continues an answer that is held. */
  release(question: string): void {
    this.forwardings.get(question)?.gates.find((gate) => !gate.released)?.release();
  }

  /** The model answers the question with text and tool calls, and with `finalAnswer` once it has their results. */
  callsTools(question: string, text: string, calls: readonly { name: string; arguments: object }[], finalAnswer: string): void {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const isQuestion = (request: Request) => lastUserText(request).trimEnd().endsWith(question);
    const hasResults = (request: Request) => turnsOf(request).slice(lastUserIndex(request)).some((turn) => turn.role === 'tool');
    const toolCalls = calls.map((call, i) => ({ id: `call_${i}_${question.length}`, name: call.name, arguments: JSON.stringify(call.arguments) }));
    for (const [predicate, response] of [
      [(request: Request) => isQuestion(request) && !hasResults(request), { content: text, toolCalls, usage }],
      [(request: Request) => isQuestion(request) && hasResults(request), { content: finalAnswer, usage }],
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
    for (const { gates } of this.forwardings.values()) for (const gate of gates) gate.release();
    this.proxy.closeAllConnections();
    await new Promise((resolve) => this.proxy.close(resolve));
    await this.mock.stop();
  }

  private prepend(question: string, response: object, pace: object): void {
    const match = { predicate: (request: Request) => lastUserText(request).trimEnd().endsWith(question) };
    this.mock.prependFixture({ match, response, ...pace } as Parameters<LLMock['prependFixture']>[0]);
  }

  /** Forwards a request to aimock, and the response back. */
  private async forwardRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
    const upstream = sendRequest(target, { method: request.method, headers: { ...request.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      void this.forwardAnswer(answer, response, this.forwardingOf(body));
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    upstream.end(body);
  }

  private forwardingOf(body: Buffer): Forwarding {
    const question = body.length === 0 ? '' : lastUserText(JSON.parse(body.toString('utf8')) as Request).trimEnd();
    return [...this.forwardings].findLast(([key]) => question.endsWith(key))?.[1] ?? { gates: [], dropAfter: Infinity };
  }

  /** Forwards an answer event by event: up to each gate, or up to where the connection is dropped. */
  private async forwardAnswer(answer: IncomingMessage, response: ServerResponse, { gates, dropAfter }: Forwarding): Promise<void> {
    let events = 0;
    try {
      for await (const chunk of answer) {
        for (const piece of (chunk as Buffer).toString('latin1').split(/(?<=\n\n)/)) {
          for (const gate of gates) if (events >= gate.events) await gate.open;
          await write(response, Buffer.from(piece, 'latin1'));
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
function write(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => response.write(piece, (error) => (error ? reject(error) : resolve())));
}

function turnsOf(request: Request): Message[] {
  const turns = request.messages ?? request.input ?? [];
  return typeof turns === 'string' ? [{ role: 'user', content: turns }] : turns;
}

function lastUserIndex(request: Request): number {
  return Math.max(0, turnsOf(request).findLastIndex((message) => message.role === 'user'));
}

function lastUserText(request: Request): string {
  const last = turnsOf(request).filter((message) => message.role === 'user').at(-1);
  if (typeof last?.content === 'string') return last.content;
  if (!Array.isArray(last?.content)) return '';
  return last.content.map((part: { text?: string }) => part.text ?? '').join('\n');
}
