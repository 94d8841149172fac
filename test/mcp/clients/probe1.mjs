// The TypeScript SDK, version 1, as a client: connects to the given program, lists its tools, searches, writes a note,
// and prints the results as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { probe } from './probe.mjs';

await probe(new Client({ name: 'probe1', version: '1.0.0' }), { StdioClientTransport, StreamableHTTPClientTransport });
