/**
 * The preload bridge: forwards the message port that main sends once the page reports ready, and exposes nothing else.
 */
import { ipcRenderer } from 'electron';

ipcRenderer.on('braid:port', ({ ports }) => {
  const [port] = ports;
  // Posted to this page's own origin only; the page listens before it asks (renderer/api/transport.ts).
  if (port !== undefined) window.postMessage('braid:port', window.location.origin, [port]);
});

window.addEventListener('message', ({ source, data }) => {
  if (source === window && data === 'braid:ready') ipcRenderer.send('braid:ready');
});
