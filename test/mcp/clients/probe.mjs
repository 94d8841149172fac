// The requests of the probes for both versions of the SDK: node probeN.mjs http URL TOKEN, or node probeN.mjs stdio
// COMMAND ARGUMENT...
export async function probe(client, { StdioClientTransport, StreamableHTTPClientTransport }) {
  const [kind, target, ...rest] = process.argv.slice(2);
  const transport =
    kind === 'http'
      ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } })
      : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    return { text: result.content.map((part) => part.text).join('\n'), isError: result.isError === true };
  };
  const note = { text: 'The torque of the wheel nuts is 110 Nm' };
  console.log(
    JSON.stringify({
      server: client.getServerVersion()?.name,
      tools: tools.map((tool) => tool.name).sort(),
      found: await call('search_memory', { query: 'deadline of Falcon' }),
      listed: await call('list_sessions', {}),
      noted: await call('remember', note),
      notedAgain: await call('remember', note),
      wrong: await call('search_memory', { qery: 'x' }),
    }),
  );
  await client.close();
}
