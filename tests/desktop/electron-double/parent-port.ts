/** Given to the forked trainer with --import: the parent port that Electron gives a utility process. */
import { EventEmitter } from 'node:events';

const port = Object.assign(new EventEmitter(), {
  postMessage: (message: unknown): void => void process.send?.(message),
});
process.on('message', (data) => port.emit('message', { data, ports: [] }));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
Object.defineProperty(process, 'parentPort', { value: port });
