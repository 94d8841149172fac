// A third-party mock provider on the loopback interface: aimock. The end of the newest user message, "[[KIND N]]",
// selects the response, so that the fault of every request is known before it is sent.
//
//   node provider.mjs PATH_OF_AIMOCK    prints its address on the first line and ends when stdin ends
import { pathToFileURL } from 'node:url';

const { LLMock } = await import(pathToFileURL(process.argv[2]).href);
const server = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 12, latency: 2, logLevel: 'silent' });

const forever = 600_000;
const counted = new Map();

function lastUserText(request) {
  const content = request.messages?.filter((message) => message.role === 'user').at(-1)?.content;
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : '';
}

const tagOf = (request) => /\[\[([a-z_]+) (\d+)\]\]\s*$/.exec(lastUserText(request)) ?? [];

/** The same words as answerTo in provider_test.go. */
function answer(number) {
  const sentences = [];
  for (let i = 1; i <= 8; i++) sentences.push(`Answer ${number}, sentence ${i}: größer als 漢字 allein.`);
  return sentences.join(' ');
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, input_tokens: 10, output_tokens: 5 };
const good = (request, more = {}) => ({ content: answer(tagOf(request)[2]), usage, ...more });
const failure = (status, type, message, more = {}) => ({ status, error: { message, type }, ...more });

/** The failure for the first request of a message, then the answer. */
const once = (fail) => (request) => {
  const key = tagOf(request)[0];
  counted.set(key, (counted.get(key) ?? 0) + 1);
  return counted.get(key) === 1 ? fail : good(request);
};

const limited = (more) => failure(429, 'rate_limit_error', 'Too many requests.', more);
const broken = failure(500, 'server_error', 'Something broke here.');

const kinds = {
  good: [good],
  slow: [good, { latency: 10 }],
  length: [(request) => good(request, { finishReason: 'length' })],
  limit_once: [once(limited({ retryAfter: 1 }))],
  limit_long: [limited({ retryAfter: 3600 })],
  server_once: [once(broken)],
  server: [broken],
  auth: [failure(401, 'authentication_error', 'This key is not valid.')],
  bad_request: [failure(400, 'invalid_request_error', 'This request makes no sense.')],
  cut: [good, { truncateAfterChunks: 14, latency: 4 }],
  disconnect: [good, { chaos: { disconnectRate: 1 } }],
  malformed: [good, { chaos: { malformedRate: 1 } }],
  late: [good, { chaos: { latencyMs: 400 } }],
  mute: [good, { chaos: { latencyMs: 30_000 } }],
  stall: [good, { recordedTimings: { ttftMs: 0, interChunkDelaysMs: [...Array(14).fill(1), ...Array(200).fill(forever)], totalDurationMs: 1 } }],
  stop: [good, { latency: 60 }],
  stop_early: [good, { chaos: { latencyMs: 30_000 } }],
  tool: [{ toolCalls: [{ id: 'call_w1', name: 'get_weather', arguments: '{"city":"Berlin"}' }], usage }],
};

/**
 * A turn with tools: in each of as many steps as the message's number says the model thinks, says a text and calls two
 * tools at once; then it says what it was offered, and every call with its result, as this server read them.
 */
function toolTurn(request) {
  const said = request.messages.slice(request.messages.findLastIndex((message) => message.role === 'user') + 1);
  const results = said.filter((message) => message.role === 'tool');
  const step = results.length / 2;
  if (step < Number(tagOf(request)[2])) {
    const call = (name, value) => ({ id: `call_${step}_${name}`, name, arguments: JSON.stringify(value) });
    return {
      reasoning: `Thought ${step}.`,
      reasoningSignature: `sig${step}==`,
      content: `Step ${step}.`,
      toolCalls: [call('get_weather', { city: `<Köln ${step}>` }), call('files__search', {})],
      usage,
    };
  }
  const calls = new Map(said.flatMap((message) => message.tool_calls ?? []).map((call) => [call.id, call.function]));
  const read = results.map(({ tool_call_id: id, content }) => {
    const text = typeof content === 'string' ? content : content.map((part) => part.text).join('');
    return `${calls.get(id)?.name}(${calls.get(id)?.arguments}) = ${text}`;
  });
  const offered = (request.tools ?? []).map((tool) => tool.function.name).join(' ');
  return { content: [`Offered: ${offered}`, ...read].join('\n'), usage };
}
kinds.tools = [toolTurn];

for (const [kind, [response, pace = {}]] of Object.entries(kinds)) {
  server.addFixture({ match: { predicate: (request) => tagOf(request)[1] === kind }, response, ...pace });
}

await server.start();
process.stdout.write(`${server.url}\n`);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
