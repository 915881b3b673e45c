/** Makes calls of a page fail as if the host couldn't answer them. */
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
      // oRPC's frame: the call's number, then its path.
      const { i, p } = JSON.parse(message.toString()) as { readonly i: string; readonly p?: { readonly u?: string } };
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

export interface Failure {
  readonly message: string;
  readonly remedy: string;
}
