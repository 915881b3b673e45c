/** A terminal that is drawn over in place, and given back as it was. */

/** Alternate screen, no cursor, lines cut at the edge; and back. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const CTRL_C = '\x03';

export interface WatchScreen {
  /** Replaces what is shown. */
  draw(lines: readonly string[]): void;
  /** Gives the terminal back; once. */
  close(): void;
}

export interface WatchTerminal {
  readonly stdin: Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode' | 'resume' | 'pause' | 'on' | 'off'>;
  readonly stdout: Pick<NodeJS.WriteStream, 'write'>;
}

/** Takes the screen; `onKey` is called with `quit` for q, and with `interrupt` for Ctrl-C. */
export function openWatchScreen(
  { stdin, stdout }: WatchTerminal,
  onKey: (key: 'quit' | 'interrupt') => void,
): WatchScreen {
  const hear = (data: Buffer | string): void => {
    const keys = String(data);
    if (keys.includes(CTRL_C)) onKey('interrupt');
    else if (/q/i.test(keys) && !keys.includes('\x1b')) onKey('quit');
  };
  const hasKeys = stdin.isTTY === true;
  if (hasKeys) {
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', hear);
  }
  stdout.write(ENTER);
  let open = true;
  return {
    draw: (lines) => void stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`),
    close: () => {
      if (!open) return;
      open = false;
      stdout.write(LEAVE);
      if (!hasKeys) return;
      stdin.off('data', hear);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
