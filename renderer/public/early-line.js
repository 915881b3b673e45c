// Opens the socket of `braid serve` while the page's own code is still being read: api/line.ts takes it over.
if (window.location.protocol !== 'app:') window.braidSocket = new WebSocket(`ws://${window.location.host}/rpc`);
