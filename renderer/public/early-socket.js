// Opens the `braid serve` socket while the page's own code is still loading; api/transport.ts picks it up.
if (window.location.protocol !== 'app:') window.braidSocket = new WebSocket(`ws://${window.location.host}/rpc`);
