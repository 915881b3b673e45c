/** Makes calls of a page fail as if the host couldn't answer them, or answers come late. */
import type { Page } from 'playwright-core';

export interface FailingCalls {
  /** From now on the host answers them. */
  stop(): void;
}

/** Fails these procedures ("/runs/cost") from the page's next load on, with a message and a remedy. */
export async function failCalls(page: Page, procedures: readonly string[], why: Failure): Promise<FailingCalls> {
  let isFailing = true;
  const answer = { defined: false, status: 500, code: 'FAILED', message: why.message };
  const body = { json: { ...answer, data: { code: 'TEST', remedy: why.remedy } } };
  await page.routeWebSocket(/.*/, (socket) => {
    const host = socket.connectToServer();
    socket.onMessage((message) => {
      const { i, p } = frameOf(message);
      if (isFailing && procedures.includes(p?.u ?? '')) socket.send(JSON.stringify({ i, p: { s: 500, b: body } }));
      else host.send(message);
    });
  });
  return {
    stop: () => {
      isFailing = false;
    },
  };
}

/** Holds back what the host answers to these procedures, from the page's next load on. */
export async function holdAnswers(page: Page, procedures: readonly string[]): Promise<void> {
  await page.routeWebSocket(/.*/, (socket) => {
    const host = socket.connectToServer();
    const held = new Set<string>();
    socket.onMessage((message) => {
      const { i, p } = frameOf(message);
      if (procedures.includes(p?.u ?? '')) held.add(i);
      host.send(message);
    });
    host.onMessage((message) => {
      if (!held.has(frameOf(message).i)) socket.send(message);
    });
  });
}

/** oRPC's frame: the call's number, then its path. */
function frameOf(message: string | Buffer): { readonly i: string; readonly p?: { readonly u?: string } } {
  return JSON.parse(message.toString());
}

export interface Failure {
  readonly message: string;
  readonly remedy: string;
}
