/** Requests and frames that no page sends, with and without the token: none gets in, none ends or holds up the host. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '../../main/random.ts';
import { type ServeHost, startServe, usageOf } from './hosts.ts';
import { type Kind, type KindContext, SLOW_SECONDS } from './kind.ts';
import { mutatedBytes, pick } from './mutate.ts';

const TARGETS: readonly string[] = [
  ...[
    '/',
    '//',
    '//[',
    'http://[',
    '//:99999',
    '//a%00b/',
    '/%',
    '/%00',
    '/..%2f..%2fetc/passwd',
    '*',
    '?',
    '/?token=',
  ],
  ...['/../../etc/passwd', '\\', '/rpc', '/rpc?token=x', 'http://evil.example/', '/assets/../../package.json'],
  ...[`/${'a'.repeat(8000)}`, `/?token=${'a'.repeat(8000)}`, '/index.html#', '/\u00ff', 'rpc', '/assets/%c0%ae'],
];
const HOSTS = [
  '127.0.0.1',
  'localhost',
  'evil.example',
  '127.0.0.1:99999999',
  '[::1]',
  '',
  'localhost.evil.example',
  '0',
];
const ORIGINS = ['http://evil.example', 'null', 'http://127.0.0.1', 'file://', ''];
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'CONNECT', 'TRACE', 'X'.repeat(300), 'get', ''];
const ANSWER_MS = 800;
const LOOK_EVERY = 10;

export const attacks: Kind = {
  name: 'attacks',
  share: 0.1,
  least: 600,
  leastShort: 120,
  run: async (context) => {
    let host = await startServe(context.folder);
    const first = usageOf(host.process.pid ?? 0);
    for (let number = 1; context.goesOn(); number++) {
      const stream = context.stream(number);
      const make = pick(stream, [request, request, upgrade, frames, message]);
      // One that the host did not live through: seen right below.
      const attack = await make(host, stream).catch((error): Attack => ({ sent: String(error), got: null }));
      context.report.tries++;
      if (attack.got !== null) context.failed(number, attack.got, attack.sent);
      // What ends the host may show a moment after the answer.
      if (number % LOOK_EVERY === 0) await sleep(20);
      const late = host.hasEnded() || number % LOOK_EVERY === 0 ? await lookAt(host, context) : null;
      if (host.hasEnded()) {
        context.failed(
          number,
          `the host ended: ${host.stderr().split('\n').slice(0, 6).join(' ').slice(0, 200)}`,
          attack.sent,
        );
        host = await startServe(context.folder);
        context.report.measured.restarts = (context.report.measured.restarts ?? 0) + 1;
      } else if (late !== null) context.failed(number, late, attack.sent);
    }
    if (context.report.measured.restarts === undefined) {
      const last = usageOf(host.process.pid ?? 0);
      context.report.measured.growthMiB = Math.round(last.memoryMiB - first.memoryMiB);
      context.report.measured.moreDescriptors = last.descriptors - first.descriptors;
      if (last.descriptors - first.descriptors > 20) context.failed(0, 'the host keeps descriptors of attacks', '');
      if (last.memoryMiB - first.memoryMiB > 300) context.failed(0, 'the host grew by more than 300 MiB', '');
    }
    await host.stop();
  },
};

/** The page still comes, in time. */
async function lookAt(host: ServeHost, { report }: KindContext): Promise<string | null> {
  const from = performance.now();
  try {
    const entry = await host.enter();
    const page = await fetch(entry.page, { headers: { Cookie: entry.headers.Cookie ?? '' } });
    const seconds = (performance.now() - from) / 1000;
    report.slowest = Math.max(report.slowest, seconds);
    if (page.status !== 200) return `its own page gets ${page.status}`;
    return seconds > SLOW_SECONDS ? `its own page waits ${seconds.toFixed(0)} s` : null;
  } catch (error) {
    return host.hasEnded() ? null : `its own page gets nothing: ${(error as Error).message}`;
  }
}

interface Attack {
  readonly sent: string;
  /** What should not have come; null: it was refused. */
  readonly got: string | null;
}

/** Targets of others, and those of the page itself, as if somebody had guessed its path. */
async function targetsOf(host: ServeHost): Promise<readonly string[]> {
  const { page, socket } = await host.enter();
  return [...TARGETS, new URL(page).pathname, new URL('index.html', page).pathname, new URL(socket).pathname];
}

/** A request without the token. */
async function request(host: ServeHost, stream: RandomStream): Promise<Attack> {
  const targets = await targetsOf(host);
  const headers = [`Host: ${pick(stream, HOSTS)}`];
  if (stream.below(2) === 0) headers.push(`Origin: ${pick(stream, ORIGINS)}`);
  if (stream.below(3) === 0) headers.push(`Cookie: braid-${'0'.repeat(12)}=${'x'.repeat(stream.below(3000))}`);
  if (stream.below(6) === 0) headers.push(`X-A: ${'y'.repeat(pick(stream, [10, 9000, 70_000]))}`);
  if (stream.below(6) === 0) headers.push('Transfer-Encoding: chunked', 'Content-Length: 5');
  const line = `${pick(stream, METHODS)} ${pick(stream, targets)} HTTP/1.${stream.below(3)}`;
  return sendRaw(host, stream, [line, ...headers, '', ''].join('\r\n'));
}

/** A socket asked for without the token, or by another site's page. */
async function upgrade(host: ServeHost, stream: RandomStream): Promise<Attack> {
  const targets = await targetsOf(host);
  const lines = [
    `GET ${stream.below(2) === 0 ? targets.at(-1) : pick(stream, targets)} HTTP/1.1`,
    `Host: ${pick(stream, HOSTS)}`,
    `Origin: ${pick(stream, ORIGINS)}`,
    ...['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
    `Sec-WebSocket-Key: ${pick(stream, ['dGhlIHNhbXBsZSBub25jZQ==', '', 'x'.repeat(500)])}`,
  ];
  return sendRaw(host, stream, [...lines, '', ''].join('\r\n'));
}

async function sendRaw(host: ServeHost, stream: RandomStream, text: string): Promise<Attack> {
  const bytes = stream.below(3) === 0 ? mutatedBytes(stream, Buffer.from(text)) : Buffer.from(text);
  const answer = await exchange(host.port, bytes);
  const status = /^HTTP\/1\.\d (\d+)/.exec(answer)?.[1];
  const isIn = status !== undefined && !/^(4\d\d|501|505)$/.test(status);
  return { sent: bytes.toString('latin1'), got: isIn ? `answered ${status} without the token` : null };
}

/** Sends bytes and collects what comes until the end or for a while. */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((settle) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      settle(answer);
    };
    const timer = setTimeout(end, ANSWER_MS);
    socket.on('data', (part) => {
      answer += part.toString('latin1');
      if (answer.includes('\r\n\r\n')) end();
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

/** Frames that break the protocol, on a socket that has the token. */
async function frames(host: ServeHost, stream: RandomStream): Promise<Attack> {
  const { socket, headers } = await host.enter();
  const { Cookie, Origin } = headers;
  const hello = [
    ...[
      `GET ${new URL(socket).pathname} HTTP/1.1`,
      `Host: 127.0.0.1:${host.port}`,
      `Origin: ${Origin}`,
      `Cookie: ${Cookie}`,
    ],
    ...['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
    ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
  ].join('\r\n');
  const length = pick(stream, [0, 1, 125, 126, 127]);
  const frame = Buffer.concat([
    Buffer.of(stream.below(256), stream.below(2) * 128 + length),
    Buffer.from(Array.from({ length: stream.below(200) }, () => stream.below(256))),
  ]);
  await exchange(host.port, Buffer.concat([Buffer.from(hello), frame]));
  return { sent: frame.toString('hex'), got: null };
}

const MESSAGES: readonly string[] = [
  ...['', '{}', '[]', 'null', '1', '"x"', '{"i":"1"}', '{"i":"1","p":null}', '{"i":null,"p":{"u":"/runs/list"}}'],
  ...['{"i":"1","p":{"u":"/runs/list","b":{"json":{}}}}', '{"i":"1","p":{"u":"//","b":1}}', '{"i":"1","t":99,"p":{}}'],
  ...['{"i":"1","p":{"u":"/__proto__/constructor"}}', '{"i":"1","p":{"u":"/app/status","b":{"meta":[[0,"x"]]}}}'],
];

/** Messages that the protocol allows and the app does not, on a socket that has the token. */
async function message(host: ServeHost, stream: RandomStream): Promise<Attack> {
  const { socket, close } = await host.connect();
  const bytes = mutatedBytes(stream, Buffer.from(pick(stream, MESSAGES)));
  const large = stream.below(20);
  const sent = large === 0 ? manyKeys(stream.below(20_000)) : large === 1 ? manyLevels(stream.below(100_000)) : bytes;
  socket.on('error', () => undefined);
  socket.send(sent, { binary: stream.below(3) === 0 });
  await sleep(30);
  close();
  return { sent: sent.toString('latin1'), got: null };
}

function manyLevels(count: number): Buffer {
  const value = `${'['.repeat(count)}${']'.repeat(count)}`;
  return Buffer.from(`{"i":"1","p":{"u":"/config/check","b":{"json":{"config":{"model":${value}}}}}}`);
}

function manyKeys(count: number): Buffer {
  const config = Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown_key_${i}`, i]));
  return Buffer.from(JSON.stringify({ i: '1', p: { u: '/config/check', b: { json: { config } } } }));
}
