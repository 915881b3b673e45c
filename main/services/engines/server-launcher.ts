/** How the server of an engine is started from here: by a command, as a Ray job, or as a job of Hugging Face. */
import { z } from 'zod';
import { isLoopback } from '../../io/address.ts';

const text = z.string().trim().min(1).max(4000);
const name = z.string().trim().min(1).max(500);

/** When a server ends that nobody ends. */
const limits = {
  /** Minutes without a run, a check or a test; 0: never. */
  idleMinutes: z.int().min(0).max(10_080).default(30),
  /** Hours after which it ends by itself, also where this machine is off; 0: never. */
  maxHours: z.number().min(0).max(720).default(12),
};

/** A host as ssh takes it; one that begins with a dash would be an option. */
const sshHost = z
  .string()
  .trim()
  .max(255)
  .regex(/^[^\s-]\S{0,254}$/, 'Expected a host as ssh takes it, such as gpu-host or me@10.0.0.5');

/** The server's port where it runs; null: that of the engine's address, if this is on this machine. */
const portThere = z.int().min(1).max(65_535).nullable().default(null);

export const launcherSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    /** A shell's line that runs until the server ends. */
    command: text,
    /** Where it runs, by ssh with a tunnel to the engine's address; null: on this machine. */
    host: sshHost.nullable().default(null),
    /** The server's port on that host; null: the port of the engine's address. */
    port: portThere,
    ...limits,
  }),
  z.strictObject({
    kind: z.literal('ray'),
    /** Address of the cluster's dashboard, whose Jobs API is asked. */
    dashboard: name,
    /** Whether that address may be plain http on another machine. */
    allowPlain: z.boolean().default(false),
    /** A shell's line that runs until the server ends. */
    entrypoint: text,
    /** A folder of this machine that is uploaded and becomes the job's; null: none. */
    workingDir: z.string().trim().min(1).max(4096).nullable().default(null),
    /** Packages that the job's environment needs. */
    pip: z.array(name).max(100).default([]),
    env: z.record(name, z.string().max(4000)).default({}),
    /** Of the entry point itself; the server asks for its workers' by itself. */
    cpus: z.number().min(0).max(4096).default(0),
    gpus: z.number().min(0).max(4096).default(0),
    port: portThere,
    ...limits,
  }),
  z.strictObject({
    kind: z.literal('hf'),
    /** A user or an organisation, which pays. */
    namespace: z
      .string()
      .trim()
      .max(96)
      .regex(/^[\w.-]{1,96}$/, 'Expected a user or an organisation'),
    image: name,
    command: text,
    /** The machine: `a10g-small`, `h200` … */
    flavor: z
      .string()
      .trim()
      .max(64)
      .regex(/^[\w.-]{1,64}$/, 'Expected a machine such as a10g-small'),
    env: z.record(name, z.string().max(4000)).default({}),
    port: portThere,
    ...limits,
  }),
]);

export type ServerLauncher = Readonly<z.infer<typeof launcherSchema>>;
export type ServerLauncherOf<K extends ServerLauncher['kind']> = Extract<ServerLauncher, { readonly kind: K }>;

/** The port of an address that isn't written out, too. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/**
 * The server's port where it runs; null: not known, since a tunnel or gateway elsewhere leads to it, and its address says
 * nothing of where.
 */
export function portOfServer({ port }: Pick<ServerLauncher, 'port'>, url: string): number | null {
  return port ?? (isLoopback(new URL(url).hostname) ? portOf(url) : null);
}

/** Where a server runs, in a few words. */
export function launcherWords(launcher: ServerLauncher): string {
  switch (launcher.kind) {
    case 'command':
      return launcher.host === null ? 'a command on this machine' : `a command on ${launcher.host}`;
    case 'ray':
      return `a Ray job at ${launcher.dashboard}`;
    case 'hf':
      return `a Hugging Face job of ${launcher.namespace} on ${launcher.flavor}`;
  }
}
