// The TypeScript SDK, version 2, as a client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { probe } from './probe.mjs';

await probe(new Client({ name: 'probe2', version: '1.0.0' }), { StdioClientTransport, StreamableHTTPClientTransport });
