/** Message ports as Electron's main process has them. */
import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type * as Electron from 'electron';
import { report } from './report.ts';

type PortMethods = Pick<Electron.MessagePortMain, 'close' | 'postMessage' | 'start'>;

export class MessagePortMain extends EventEmitter implements PortMethods {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('close', () => this.emit('close'));
  }

  /** As there, nothing arrives before this. */
  start(): void {
    this.#port.on('message', (data) => this.emit('message', { data, ports: [] }));
  }

  postMessage(data: unknown): void {
    this.#port.postMessage(data);
  }

  close(): void {
    this.#port.close();
  }
}

export class MessageChannelMain {
  readonly port1: MessagePortMain;
  readonly port2: MessagePortMain;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port1 = new MessagePortMain(port1);
    this.port2 = new MessagePortMain(port2);
  }
}

/** The ports that were handed to pages; the page's end is in the test. */
const handed: MessagePortMain[] = [];

/** Hands a port over to the test; gives its number. */
export function handOver(port: MessagePortMain): number {
  const number = handed.push(port) - 1;
  port.on('message', ({ data }: { readonly data: unknown }) => report({ kind: 'port', port: number, data }));
  port.start();
  return number;
}

export function handedPort(number: number): MessagePortMain | undefined {
  return handed[number];
}
