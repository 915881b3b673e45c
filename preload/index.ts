/** The bridge: hands the page the port that main sends when it says that it is ready, and nothing else. */
import { ipcRenderer } from 'electron';

ipcRenderer.on('braid:port', ({ ports }) => {
  const [port] = ports;
  // Only to this page's own origin; the page listens before it asks (renderer/api/line.ts).
  if (port !== undefined) window.postMessage('braid:port', window.location.origin, [port]);
});

window.addEventListener('message', ({ source, data }) => {
  if (source === window && data === 'braid:ready') ipcRenderer.send('braid:ready');
});
