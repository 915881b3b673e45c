/** Links that may open in the system's browser. */

/** Model cards; the page has no other external links. */
const HOSTS: readonly string[] = ['huggingface.co'];

/** Whether a URL may be opened in the browser: https, a known host, no credentials. */
export function isAllowedLink(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && HOSTS.includes(url.host) && url.username === '' && url.password === '';
}
