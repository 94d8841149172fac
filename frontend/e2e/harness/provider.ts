import { LLMock } from '@copilotkit/aimock';

export interface Pace {
  /** Milliseconds between pieces of the answer. */
  latency?: number;
  /** Characters a piece. */
  chunkSize?: number;
  /** Drop the connection after so many pieces. */
  truncateAfterChunks?: number;
}

type Request = { messages?: { role: string; content: unknown }[] };

/**
 * A provider on the loopback that no one here wrote: aimock, with the answers a test gives it. A question is matched by
 * the end of the last user message, because in front of it stands the memory block, which may quote older questions.
 */
export class Provider {
  private constructor(private readonly server: LLMock) {}

  static start(): Promise<Provider> {
    return Provider.startAt(0);
  }

  static async startAt(port: number): Promise<Provider> {
    const server = new LLMock({ port, host: '127.0.0.1', chunkSize: 12, latency: 2 });
    await server.start();
    return new Provider(server);
  }

  /** Address without the /v1 that OpenAI's protocols add. */
  get url(): string {
    return this.server.url;
  }

  answer(question: string, text: string, pace: Pace = {}): void {
    const response = { content: text, usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    this.prepend(question, response, pace);
  }

  refuse(question: string, status: number, message: string): void {
    this.prepend(question, { error: { message, type: 'test_error' }, status }, {});
  }

  /** The questions that arrived, in order. */
  questions(): string[] {
    return this.server.getRequests().map((entry) => lastUserText((entry.body ?? {}) as Request));
  }

  /** The newest request's body, as the mock read it. */
  lastRequest(): unknown {
    return this.server.getLastRequest()?.body;
  }

  /** Credentials that arrived. */
  keys(): string[] {
    return this.server.getRequests().map((entry) => String(entry.headers['authorization'] ?? entry.headers['x-api-key'] ?? '').replace(/^Bearer /, ''));
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  private prepend(question: string, response: object, pace: Pace): void {
    const match = { predicate: (request: Request) => lastUserText(request).trimEnd().endsWith(question) };
    this.server.prependFixture({ match, response, ...pace } as Parameters<LLMock['prependFixture']>[0]);
  }
}

function lastUserText(request: Request): string {
  const last = request.messages?.filter((message) => message.role === 'user').at(-1);
  if (typeof last?.content === 'string') return last.content;
  if (!Array.isArray(last?.content)) return '';
  return last.content.map((part: { text?: string }) => part.text ?? '').join('\n');
}
