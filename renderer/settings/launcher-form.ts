/** The fields of a launcher as the form holds them, and the launcher that they describe. Pure. */
import type { ServerLauncher } from '../../main/api/contract/index.ts';

export const LAUNCHER_KINDS = ['none', 'command', 'ray', 'hf'] as const;
export type LauncherKind = (typeof LAUNCHER_KINDS)[number];

/** All fields of all kinds: a change of the kind forgets nothing. */
export interface LauncherFields {
  readonly kind: LauncherKind;
  /** Of a command and a Hugging Face job; the entry point of a Ray job. */
  readonly command: string;
  readonly host: string;
  readonly port: number | null;
  readonly dashboard: string;
  /** Of a dashboard that plain http was allowed for, by the command line. */
  readonly allowPlain: boolean;
  readonly workingDir: string;
  /** One a line. */
  readonly pip: string;
  /** NAME=value, one a line. */
  readonly env: string;
  readonly cpus: number;
  readonly gpus: number;
  readonly namespace: string;
  readonly image: string;
  readonly flavor: string;
  readonly idleMinutes: number;
  readonly maxHours: number;
}

const EMPTY: LauncherFields = {
  kind: 'none',
  command: '',
  host: '',
  port: null,
  dashboard: 'http://127.0.0.1:8265',
  allowPlain: false,
  workingDir: '',
  pip: '',
  env: '',
  cpus: 0,
  gpus: 0,
  namespace: '',
  image: '',
  flavor: '',
  idleMinutes: 30,
  maxHours: 12,
};

/** The fields of a launcher; null: none. */
export function fieldsOf(launcher: ServerLauncher | null): LauncherFields {
  if (launcher === null) return EMPTY;
  const { kind, port, idleMinutes, maxHours } = launcher;
  const common = { ...EMPTY, kind, port, idleMinutes, maxHours };
  switch (launcher.kind) {
    case 'command':
      return { ...common, command: launcher.command, host: launcher.host ?? '' };
    case 'ray': {
      const { dashboard, allowPlain, entrypoint, workingDir, pip, env, cpus, gpus } = launcher;
      const lists = { pip: pip.join('\n'), env: linesOf(env) };
      return {
        ...common,
        dashboard,
        allowPlain,
        command: entrypoint,
        workingDir: workingDir ?? '',
        ...lists,
        cpus,
        gpus,
      };
    }
    case 'hf': {
      const { namespace, image, command, flavor, env } = launcher;
      return { ...common, namespace, image, command, flavor, env: linesOf(env) };
    }
  }
}

/** The launcher that the fields describe; the host checks it. */
export function launcherFrom(fields: LauncherFields): ServerLauncher | null {
  const { command, host, port, dashboard, allowPlain, workingDir, namespace, image, flavor } = fields;
  const limits = { idleMinutes: fields.idleMinutes, maxHours: fields.maxHours };
  switch (fields.kind) {
    case 'none':
      return null;
    case 'command':
      return { kind: 'command', command, host: host.trim() || null, port: host.trim() === '' ? null : port, ...limits };
    case 'ray': {
      const environment = {
        workingDir: workingDir.trim() || null,
        pip: entries(fields.pip),
        env: variables(fields.env),
      };
      const size = { cpus: fields.cpus, gpus: fields.gpus };
      return { kind: 'ray', dashboard, allowPlain, entrypoint: command, ...environment, ...size, port, ...limits };
    }
    case 'hf':
      return { kind: 'hf', namespace, image, command, flavor, env: variables(fields.env), port, ...limits };
  }
}

/** Whether everything is filled in that the kind needs. */
export function isComplete({ kind, command, dashboard, namespace, image, flavor }: LauncherFields): boolean {
  const needed = { none: [], command: [command], ray: [command, dashboard], hf: [command, namespace, image, flavor] };
  return needed[kind].every((value) => value.trim() !== '');
}

function linesOf(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

function entries(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A line without "=" is a name without a value. */
function variables(text: string): Record<string, string> {
  return Object.fromEntries(
    entries(text).map((line) => {
      const [name = '', ...value] = line.split('=');
      return [name.trim(), value.join('=')];
    }),
  );
}
