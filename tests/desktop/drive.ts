/** The built main entry in a process of its own, with the double in Electron's place, and what drives it. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { ContractRouterClient } from '@orpc/contract';
import type { Contract } from '../../main/api/contract/index.ts';
import { until } from '../until.ts';
import type { DoubleOptions, FrameKind, Order, Report } from './electron-double/wire.ts';

const root = resolve(import.meta.dirname, '../..');
const register = new URL('electron-double/register.ts', import.meta.url).href;
const ownPage: FrameKind = { origin: 'app://braid', inside: false };

export interface StartOptions extends Partial<DoubleOptions> {
  /** Given in BRAID_WORKSPACE. */
  readonly workspace?: string;
  /** After the app's own arguments. */
  readonly args?: readonly string[];
  /** The built entry; default: this checkout's. */
  readonly entry?: string;
}

export type Call = Extract<Report, { kind: 'call' }>;

export interface Desktop {
  readonly process: ChildProcess;
  /** Everything that was asked of Electron so far. */
  readonly calls: readonly Call[];
  /** The arguments of each call of that name. */
  of(name: string): readonly (readonly unknown[])[];
  /** Waits until Electron was asked this so many times. */
  asked(name: string, times?: number): Promise<readonly unknown[]>;
  order(order: Order): Promise<unknown>;
  /** What a page gets; null where it is refused a port. */
  page(frame?: FrameKind): Promise<Page | null>;
  /** The process's end. */
  readonly exited: Promise<number | null>;
}

export interface Page {
  readonly client: ContractRouterClient<Contract>;
  readonly port: number;
}

/** Starts the app in a process of its own; whoever starts it ends it. */
export function forkDesktop(options: StartOptions & Pick<DoubleOptions, 'userData'>): Desktop {
  const entry = options.entry ?? join(root, 'out/main/index.js');
  if (!existsSync(entry)) throw new Error(`Expected the built main entry at ${entry}: run npm run build first`);
  const double: DoubleOptions = {
    userData: options.userData,
    first: options.first ?? true,
    packed: options.packed ?? null,
    answers: options.answers ?? [],
    chosen: options.chosen ?? [],
    screens: options.screens ?? [{ x: 0, y: 0, width: 1920, height: 1080 }],
  };
  // In a checkout Electron's second argument is the app's folder.
  const args = [...(double.packed === null ? ['.'] : []), ...(options.args ?? [])];
  const child = fork(entry, args, {
    cwd: root,
    execArgv: ['--import', register],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      BRAID_DOUBLE: JSON.stringify(double),
      BRAID_WORKSPACE: options.workspace ?? '',
      // An app that asks for no workspace must not find this user's.
      XDG_DATA_HOME: double.userData,
    },
  });
  const exited = new Promise<number | null>((settle) => child.on('exit', (code) => settle(code)));
  return drive(child, exited);
}

function drive(child: ChildProcess, exited: Promise<number | null>): Desktop {
  const calls: Call[] = [];
  const waiting = new Map<number, (value: unknown) => void>();
  const ports = new Map<number, (data: unknown) => void>();
  let lastId = 0;
  child.on('message', (message: Report) => {
    if (message.kind === 'call') calls.push(message);
    else if (message.kind === 'done') waiting.get(message.id)?.(message.value);
    else ports.get(message.port)?.(message.data);
  });

  const of = (name: string) => calls.filter((call) => call.name === name).map(({ args }) => args);
  const order = (what: Order): Promise<unknown> => {
    const id = ++lastId;
    return new Promise((settle) => {
      waiting.set(id, settle);
      // One that has ended answers nothing.
      if (child.connected) child.send({ id, order: what });
    });
  };

  async function page(frame: FrameKind = ownPage): Promise<Page | null> {
    const before = of('frame.postMessage').length;
    await order({ kind: 'frame-ready', frame });
    const given = of('frame.postMessage')[before];
    if (given === undefined) return null;
    const [port] = given[1] as readonly [number];
    const link = new RPCLink({
      port: {
        postMessage: (data: unknown) => void order({ kind: 'port', port, data }),
        addEventListener: (event: string, listener: (event: { readonly data: unknown }) => void) => {
          if (event === 'message') ports.set(port, (data) => listener({ data }));
        },
      },
    });
    return { client: createORPCClient(link), port };
  }

  async function asked(name: string, times = 1): Promise<readonly unknown[]> {
    await until(() => of(name).length >= times);
    return of(name)[times - 1] ?? [];
  }

  return { process: child, calls, of, asked, order, page, exited };
}
