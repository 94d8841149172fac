import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as sendRequest, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Home } from './home.ts';
import type { Provider } from './provider.ts';

const hosts = ['api.openai.com', 'api.anthropic.com'];

/**
 * Serves the vendors' addresses with the mock provider, without changing the program: a proxy accepts every connection
 * that would leave the machine, with a certificate that the environment declares trusted. So a pasted key is used like
 * a real one, but nothing reaches the internet.
 */
export class Vendors {
  /** "host path" of each request, in order. */
  readonly requests: string[] = [];
  /** The credentials received. */
  readonly keys = new Set<string>();

  private constructor(
    private readonly server: Server,
    readonly env: Record<string, string>,
  ) {}

  static async start(home: Home, provider: Provider): Promise<Vendors> {
    const { key, cert, certFile } = certificate(home.root);
    const proxy = createServer();
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const vendors = new Vendors(proxy, { HTTPS_PROXY: address, SSL_CERT_FILE: certFile });
    const secure = createSecureServer({ key, cert }, (request, response) => vendors.forward(request, response, provider));
    proxy.on('connect', (request, socket) => {
      const host = (request.url ?? '').split(':')[0] ?? '';
      if (!hosts.includes(host)) {
        vendors.requests.push(`${host} refused`);
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      secure.emit('connection', socket);
    });
    return vendors;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(request: IncomingMessage, response: ServerResponse, provider: Provider): void {
    this.requests.push(`${request.headers.host} ${request.url}`);
    this.keys.add(String(request.headers['x-api-key'] ?? request.headers.authorization ?? '').replace(/^Bearer /, ''));
    const target = new URL(request.url ?? '/', provider.url);
    const upstream = sendRequest(target, { method: request.method, headers: { ...request.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  }
}

function certificate(dir: string) {
  const keyFile = join(dir, 'vendor.key');
  const certFile = join(dir, 'vendor.crt');
  const names = hosts.map((host) => `DNS:${host}`).join(',');
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
      '/CN=contextinfinity tests', '-addext', `subjectAltName=${names}`, '-keyout', keyFile, '-out', certFile],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), certFile };
}
