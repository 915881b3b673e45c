/** The page for a browser without the current token: after a restart, or at an address without one. Pure. */

/** Nothing but its own style. */
export const SIGN_IN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Says what happened and where the new address is. Complete in itself: the app's files need the token. */
export function signInPage(why: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Braid: a new address is needed</title>
<style>
  :root { color-scheme: light dark; }
  body { max-width: 34em; margin: 15vh auto; padding: 0 24px; font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-size: 20px; }
  code { font-size: 13px; }
  .why { opacity: 0.75; }
</style>
<main>
  <h1>Braid was restarted, or this is not its whole address</h1>
  <p>Each start has an address of its own, with a token that keeps others on this machine out. Your runs, datasets and
  models are safe.</p>
  <p>Open the address that <code>braid serve</code> printed when it started, in the terminal where it runs. It looks like
  <code>http://127.0.0.1:4127/?token=…</code>. To print a new one, stop it there and start it again.</p>
  <p class="why">${why}.</p>
</main>
`;
}
