/**
 * Entry of the kernel module: the dispatcher over kernel ids, the job loop of the main thread and of the workers.
 *
 * A job is `tiles` independent work items of one kernel. Threads draw tiles from one shared counter, so a thread that
 * loses its core merely draws fewer of them. A drawn tile keeps its job alive (the main thread waits for it), so the
 * job's descriptor may be read without a lock by whoever holds a tile.
 */
import {
  ADAMW,
  ADD,
  ADD_IN_PLACE,
  ADD_TO_ROWS,
  COLUMNS,
  CONTROL_ARGS_AT,
  CONTROL_CLOSING,
  CONTROL_CONTENDED,
  CONTROL_DONE,
  CONTROL_EPOCH,
  CONTROL_FAILED,
  CONTROL_KERNEL,
  CONTROL_REMAINING,
  CONTROL_SLEEPERS,
  CONTROL_TILES,
  CONTROL_WAITING,
  GATHER_ROWS,
  GEMM_COLUMNS,
  GEMM_DOT,
  GEMM_PACK,
  GEMM_ROWS,
  GEMM_TILE,
  JOB_ARGS,
  JOB_KERNEL,
  JOB_PARALLEL,
  JOB_PARAMETERS,
  JOB_TILES,
  SCATTER_ADD_ROWS,
  SIDE_BY_SIDE,
  SUM_SQUARES,
} from '../ids';
import { adamw, add, addInPlace, sumSquares } from './adamw';
import { columns } from './columns';
import { runFused } from './fused';
import { gemmTile } from './gemm';
import { gemmColumns } from './gemm-columns';
import { gemmDot } from './gemm-dot';
import { gemmPack } from './gemm-pack';
import { gemmRows } from './gemm-rows';
import { addToRows, gatherRows, scatterAddRows } from './rows';
import { intArg, pointerArg } from './simd';

/** Iterations (about a nanosecond each) that a thread spins before it sleeps. */
const SPIN: i32 = 30000;
/** Times that a worker pauses after that where nobody else needs its core: waking it takes longer than most jobs. */
const PAUSES: i32 = 10000;
/** Jobs with at least this many tiles wake sleeping workers only after their first tile is done. */
const WAKE_LATE: i32 = 8;

/** About 50 nanoseconds in which the thread leaves its core to what shares it. */
// @ts-ignore: decorator
@external('env', 'pause')
declare function pause(): void;

/** Runs one tile of one kernel. */
export function runTile(kernel: i32, args: usize, tile: i32, scratch: usize): void {
  switch (kernel) {
    case GEMM_PACK:
      return gemmPack(args, tile, scratch);
    case GEMM_DOT:
      return gemmDot(args, tile, scratch);
    case GEMM_ROWS:
      return gemmRows(args, tile, scratch);
    case GEMM_COLUMNS:
      return gemmColumns(args, tile, scratch);
    case GEMM_TILE:
      return gemmTile(args, tile, scratch);
    case ADAMW:
      return adamw(args, tile, scratch);
    case ADD:
      return add(args, tile, scratch);
    case ADD_IN_PLACE:
      return addInPlace(args, tile, scratch);
    case SUM_SQUARES:
      return sumSquares(args, tile, scratch);
    case GATHER_ROWS:
      return gatherRows(args, tile, scratch);
    case SCATTER_ADD_ROWS:
      return scatterAddRows(args, tile, scratch);
    case ADD_TO_ROWS:
      return addToRows(args, tile, scratch);
    case COLUMNS:
      return columns(args, tile, scratch);
    case SIDE_BY_SIDE:
      return runSideBySide(args, tile, scratch);
    default:
      return runFused(kernel, args, tile, scratch);
  }
}

/** A tile of one of several jobs. args: jobs, then kernel, tiles and address of the parameters of each. */
function runSideBySide(args: usize, tile: i32, scratch: usize): void {
  let at: usize = 1;
  while (tile >= intArg(args, at + 1)) {
    tile -= intArg(args, at + 1);
    at += 3;
  }
  runTile(intArg(args, at), pointerArg(args, at + 2), tile, scratch);
}

/** Runs `count` jobs of a list, one after the other: 1, or 0 where a worker failed. */
export function runList(list: usize, count: i32, control: usize, scratch: usize): i32 {
  const outside = load<i32>(control + CONTROL_ARGS_AT);
  let ok = 1;
  for (let i = 0; i < count && ok != 0; i++) {
    store<i32>(control + CONTROL_ARGS_AT, <i32>(list + JOB_ARGS));
    const kernel = load<i32>(list + JOB_KERNEL);
    const tiles = load<i32>(list + JOB_TILES);
    if (load<i32>(list + JOB_PARALLEL) != 0) ok = runParallel(kernel, tiles, control, scratch);
    else runSerial(kernel, tiles, control, scratch);
    list += <usize>JOB_ARGS + ((<usize>load<i32>(list + JOB_PARAMETERS)) << 3);
  }
  store<i32>(control + CONTROL_ARGS_AT, outside);
  return ok;
}

/** Runs all tiles on the calling thread and wakes nobody. */
export function runSerial(kernel: i32, tiles: i32, control: usize, scratch: usize): void {
  const args = <usize>load<i32>(control + CONTROL_ARGS_AT);
  for (let tile = 0; tile < tiles; tile++) runTile(kernel, args, tile, scratch);
}

/** Publishes a job, works on it and returns when all its tiles are done: 1, or 0 where a worker failed. */
export function runParallel(kernel: i32, tiles: i32, control: usize, scratch: usize): i32 {
  store<i32>(control + CONTROL_KERNEL, kernel);
  store<i32>(control + CONTROL_TILES, tiles);
  atomic.store<i32>(control + CONTROL_DONE, 0);
  atomic.store<i32>(control + CONTROL_REMAINING, tiles);
  atomic.add<i32>(control + CONTROL_EPOCH, 1);
  // Spinning workers have started by now. Waking the others can cost more than a tile, so first check whether the job
  // outlasts one, unless there are too few tiles to wait.
  if (tiles >= WAKE_LATE) drawTile(control, scratch);
  const left = atomic.load<i32>(control + CONTROL_REMAINING);
  if (left > 1 && atomic.load<i32>(control + CONTROL_SLEEPERS) > 0) atomic.notify(control + CONTROL_EPOCH, left - 1);
  while (drawTile(control, scratch)) {}
  return waitForTiles(control, tiles);
}

/** A worker's loop: draw tiles while there are any, spin for more, sleep, until the pool closes. */
export function work(control: usize, scratch: usize): void {
  while (atomic.load<i32>(control + CONTROL_CLOSING) == 0) {
    // Read before the counter: a job published in between makes the wait below return at once.
    const epoch = atomic.load<i32>(control + CONTROL_EPOCH);
    if (drawTile(control, scratch)) continue;
    if (spinForWork(control)) continue;
    atomic.add<i32>(control + CONTROL_SLEEPERS, 1);
    if (atomic.load<i32>(control + CONTROL_REMAINING) <= 0 && atomic.load<i32>(control + CONTROL_CLOSING) == 0) {
      atomic.wait<i32>(control + CONTROL_EPOCH, epoch, -1);
    }
    atomic.sub<i32>(control + CONTROL_SLEEPERS, 1);
  }
}

/** Draws and runs a tile; returns whether there was one. */
function drawTile(control: usize, scratch: usize): bool {
  if (atomic.load<i32>(control + CONTROL_REMAINING) <= 0) return false;
  const left = atomic.sub<i32>(control + CONTROL_REMAINING, 1);
  if (left <= 0) return false;
  const tiles = load<i32>(control + CONTROL_TILES);
  runTile(load<i32>(control + CONTROL_KERNEL), <usize>load<i32>(control + CONTROL_ARGS_AT), tiles - left, scratch);
  // From here on the descriptor may change: the main thread may have started its next job.
  const done = atomic.add<i32>(control + CONTROL_DONE, 1) + 1;
  if (done == tiles && atomic.load<i32>(control + CONTROL_WAITING) != 0) atomic.notify(control + CONTROL_DONE, 1);
  return true;
}

function spinForWork(control: usize): bool {
  for (let i = 0; i < SPIN; i++) {
    if (atomic.load<i32>(control + CONTROL_REMAINING) > 0) return true;
  }
  for (let i = 0; i < PAUSES && atomic.load<i32>(control + CONTROL_CONTENDED) == 0; i++) {
    if (atomic.load<i32>(control + CONTROL_REMAINING) > 0) return true;
    pause();
  }
  return false;
}

/** Waits for the tiles that workers still hold. Sleeping early matters: it frees this core for a worker that was descheduled. */
function waitForTiles(control: usize, tiles: i32): i32 {
  for (let i = 0; i < SPIN; i++) {
    if (atomic.load<i32>(control + CONTROL_DONE) == tiles) return 1;
  }
  atomic.store<i32>(control + CONTROL_WAITING, 1);
  let ok = 1;
  for (;;) {
    const done = atomic.load<i32>(control + CONTROL_DONE);
    if (done == tiles) break;
    if (atomic.load<i32>(control + CONTROL_FAILED) != 0) {
      ok = 0;
      break;
    }
    atomic.wait<i32>(control + CONTROL_DONE, done, 1000000000);
  }
  atomic.store<i32>(control + CONTROL_WAITING, 0);
  return ok;
}
