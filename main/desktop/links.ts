/** Links that may leave the app for the system's browser. */

/** Model cards; the page links to nothing else. */
const HOSTS: readonly string[] = ['huggingface.co'];

/** Whether an address may be opened in the browser: https, a known host, no name and password in it. */
export function isAllowedLink(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && HOSTS.includes(url.host) && url.username === '' && url.password === '';
}
