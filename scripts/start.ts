/** `npm start`: the desktop app if Electron runs, otherwise `braid serve` in a browser, with a line that says why. */
import '../main/io/no-current-folder.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProgram } from '../main/io/programs.ts';
import { electronPackage } from '../main/services/doctor/electron-package.ts';
import { browserCommand, obstacle } from './start-rules.ts';

const root = resolve(import.meta.dirname, '..');
const given = process.argv.slice(2);
/** If Electron exits with an error this soon, it didn't open a window. */
const SOON_MS = 5000;

// Ctrl-C reaches the app itself, which saves and exits; this process exits after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

if (!existsSync(join(root, 'out/main/index.js'))) {
  say('The app has not been built (out/ is missing). Run npm run build once.');
  process.exitCode = 1;
} else {
  const { platform, env } = process;
  const why = obstacle({ platform, env, uid: process.getuid?.() ?? null }) ?? (await openDesktop());
  if (why !== null) await openInBrowser(why);
}

/** Why the desktop app could not be opened; null: it was opened, and has exited. */
async function openDesktop(): Promise<string | null> {
  const binary = electronPackage()?.binary ?? (await fetchElectron());
  if (binary === null) return "Electron's binary is missing and can't be downloaded";
  const begun = performance.now();
  const { code, errors } = await ended(spawn(binary, [root, ...given], { stdio: ['inherit', 'inherit', 'pipe'] }));
  if (code === 0 || performance.now() - begun > SOON_MS) {
    process.exitCode = code ?? 1;
    return null;
  }
  return `Electron can't run here (${errors.trim().split('\n').at(-1) ?? `it ended with ${code}`})`;
}

/** The binary isn't part of the package: it is downloaded when first needed. */
async function fetchElectron(): Promise<string | null> {
  const folder = electronPackage()?.folder;
  if (folder === undefined) return null;
  say("Downloading Electron's binary (once)…");
  await ended(spawn(process.execPath, [join(folder, 'install.js')], { stdio: ['ignore', 'ignore', 'pipe'] }), true);
  return electronPackage()?.binary ?? null;
}

async function openInBrowser(why: string): Promise<void> {
  say(`Opening Braid in the browser: ${why}.`);
  const server = spawn(process.execPath, [join(root, 'main/cli.ts'), 'serve', ...given], {
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill(signal));
  let opened = false;
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    const [url] = text.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/) ?? [];
    if (url === undefined || opened) return;
    opened = true;
    openBrowser(url);
  });
  const { code } = await ended(server);
  process.exitCode = code ?? 1;
}

/** If no browser can be opened, use the printed address. */
function openBrowser(url: string): void {
  const { platform, env } = process;
  const command = browserCommand({ platform, env, find: (name) => findProgram([name], env.PATH ?? '') }, url);
  if (command === null) return;
  const [program, ...args] = command;
  spawn(program, args, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

function ended(child: ChildProcess, quiet = false): Promise<{ readonly code: number | null; readonly errors: string }> {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
    if (!quiet) process.stderr.write(text);
  });
  return new Promise((settle) => {
    child.on('error', (error) => settle({ code: 1, errors: error.message }));
    child.on('close', (code) => settle({ code, errors }));
  });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
