// Opens the `braid serve` socket while the page's own code is still loading; api/transport.ts picks it up.
// Beside the page, whose path is a new one at each start.
if (window.location.protocol !== 'app:') {
  window.braidSocket = new WebSocket(new URL('rpc', window.location.href).href.replace(/^http/, 'ws'));
}
