/**
 * The thread that owns the GPU. It keeps Dawn's instance, adapter and device for as long as it lives: once one of them
 * is collected, the next work ends the process. Work arrives as batches; a reply goes out where one is waited for.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { adapterNamed, describe, inWords, limitsOf, listAdapters, OpenFault, unitOf } from './adapters.ts';
import { DeviceFaults, messageOf } from './device-faults.ts';
import { DispatchTimes, TIMED_FLAGS } from './dispatch-times.ts';
import { smallLimits } from './limits.ts';
import { featuresOf } from './matrix-units.ts';
import { patient } from './patience.ts';
import {
  type AdapterFacts,
  type Batch,
  COMMAND,
  type OpenRequest,
  PARAMETER_BYTES,
  type ProgramSource,
  type ReadRequest,
  type Reply,
  type Request,
  type StartReadRequest,
} from './protocol.ts';
import { Readback } from './readback.ts';
import { trialAllocation } from './trial-memory.ts';

/** The parameters that all dispatches of a batch share a buffer for, at first. */
const FIRST_PARAMETERS = 1024 * PARAMETER_BYTES;

/** A trial of the memory allocates buffers of this size. */
const TRIAL_STEP = 256 * 2 ** 20;

/** Bind groups that are kept of a program: a run whose buffers never come round again must not pile them up. */
const MOST_GROUPS = 2048;

/**
 * No kernel here reads workgroup memory before it has written it; clearing it first costs small kernels half their time.
 * The others let an adapter offer its matrix units: WGSL's extension for them is an experiment, and on NVIDIA's driver
 * Dawn holds 16-bit arithmetic back.
 */
const DAWN_FLAGS = [
  'enable-dawn-features=disable_workgroup_init,allow_unsafe_apis,vulkan_enable_f16_on_nvidia,vulkan_use_vulkan_memory_model',
];

interface Compiled {
  readonly name: string;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  /** By the buffers' numbers. A bind group costs ten times its dispatch, so the ones made are kept. */
  readonly groups: Map<string, GPUBindGroup>;
}

class DeviceThread {
  /** Kept for as long as the thread lives, see above. */
  readonly #instance: GPU;
  readonly #adapter: GPUAdapter;
  readonly #device: GPUDevice;
  readonly #programs = new Map<number, Compiled>();
  readonly #buffers = new Map<number, GPUBuffer>();
  #parameters: GPUBuffer;
  readonly readback: Readback;
  readonly faults: DeviceFaults;
  /** Null: dispatches aren't timed, and share their passes. */
  readonly #times: DispatchTimes | null;

  constructor(instance: GPU, adapter: GPUAdapter, device: GPUDevice, timed: boolean) {
    this.#instance = instance;
    this.#adapter = adapter;
    this.#device = device;
    this.#parameters = this.#uniformBuffer(FIRST_PARAMETERS);
    this.readback = new Readback(device);
    this.faults = new DeviceFaults(device);
    this.#times = timed ? new DispatchTimes(device) : null;
  }

  get facts(): AdapterFacts {
    return describe(this.#adapter);
  }

  run(batch: Batch): void {
    for (const program of batch.programs) this.#programs.set(program.id, this.#compile(program));
    for (const [id, bytes] of batch.creates) this.#buffers.set(id, this.#storageBuffer(bytes));
    for (const { buffer, offset, bytes } of batch.uploads)
      this.#device.queue.writeBuffer(this.#buffer(buffer), offset, bytes);
    if (batch.parameters.byteLength > this.#parameters.size) this.#growParameters(batch.parameters.byteLength);
    if (batch.parameters.length > 0) this.#device.queue.writeBuffer(this.#parameters, 0, batch.parameters);
    if (batch.commands.length > 0) {
      this.#device.queue.submit([this.#encode(batch.commands)]);
      this.#times?.collect();
    }
    if (batch.destroys.length > 0) this.#destroy(new Set(batch.destroys));
  }

  #encode(commands: Int32Array): GPUCommandBuffer {
    const encoder = this.#device.createCommandEncoder();
    let pass: GPUComputePassEncoder | null = null;
    let at = 0;
    const next = (): number => commands[at++] as number;
    while (at < commands.length) {
      const code = next();
      if (code === COMMAND.dispatch) {
        const program = this.#programs.get(next()) as Compiled;
        const [x, y, z, block, count] = [next(), next(), next(), next(), next()];
        pass ??= encoder.beginComputePass(this.#times?.next());
        pass.setPipeline(program.pipeline);
        pass.setBindGroup(0, this.#group(program, commands.subarray(at, at + count)), [block * PARAMETER_BYTES]);
        pass.dispatchWorkgroups(x, y, z);
        at += count;
        if (this.#times === null) continue;
        pass.end();
        pass = null;
        continue;
      }
      pass?.end();
      pass = null;
      if (code === COMMAND.copy) {
        const [from, fromAt, to, toAt, words] = [next(), next(), next(), next(), next()];
        encoder.copyBufferToBuffer(this.#buffer(from), 4 * fromAt, this.#buffer(to), 4 * toAt, 4 * words);
      } else {
        const [buffer, offset, words] = [next(), next(), next()];
        encoder.clearBuffer(this.#buffer(buffer), 4 * offset, 4 * words);
      }
    }
    pass?.end();
    this.#times?.resolve(encoder);
    return encoder.finish();
  }

  /** The buffer's bytes, once all work before is done. */
  read(request: ReadRequest): Promise<ArrayBuffer> {
    return this.readback.read(this.#buffer(request.buffer), request);
  }

  startRead(request: StartReadRequest): void {
    this.readback.start(request.read, this.#buffer(request.buffer), request);
  }

  async times(): Promise<Float64Array> {
    return (await this.#times?.take()) ?? new Float64Array();
  }

  async wait(): Promise<void> {
    await this.#device.queue.onSubmittedWorkDone();
  }

  /** Bytes that can be allocated besides what is, at most `most`. */
  async room(most: number): Promise<number> {
    const taken: GPUBuffer[] = [];
    const { maxBufferSize } = this.#device.limits;
    const found = await trialAllocation(Math.min(TRIAL_STEP, maxBufferSize), most, async (bytes) => {
      this.#device.pushErrorScope('out-of-memory');
      this.#device.pushErrorScope('validation');
      const buffer = this.#storageBuffer(bytes);
      const faults = [await this.#device.popErrorScope(), await this.#device.popErrorScope()];
      taken.push(buffer);
      return faults.every((fault) => fault === null);
    });
    for (const buffer of taken) buffer.destroy();
    await this.wait();
    return found;
  }

  lose(): void {
    this.#device.destroy();
  }

  /** Once this is done, nothing of the device is still to be heard. */
  async close(): Promise<void> {
    this.faults.close();
    this.#device.destroy();
    await this.#device.lost;
    // Named so that it can't be collected before the device.
    void this.#instance;
  }

  #compile({ name, wgsl, writes }: ProgramSource): Compiled {
    const device = this.#device;
    const uniform = { binding: 0, visibility: GPUShaderStage.COMPUTE };
    const layout = device.createBindGroupLayout({
      label: name,
      entries: [
        { ...uniform, buffer: { type: 'uniform', hasDynamicOffset: true, minBindingSize: PARAMETER_BYTES } },
        ...writes.map(
          (write, i): GPUBindGroupLayoutEntry => ({
            binding: i + 1,
            visibility: GPUShaderStage.COMPUTE,
            buffer: { type: write ? 'storage' : 'read-only-storage' },
          }),
        ),
      ],
    });
    const module = device.createShaderModule({ label: name, code: wgsl });
    const pipeline = device.createComputePipeline({
      label: name,
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: 'main' },
    });
    return { name, pipeline, layout, groups: new Map() };
  }

  #group(program: Compiled, ids: Int32Array): GPUBindGroup {
    const key = ids.join();
    const known = program.groups.get(key);
    if (known !== undefined) return known;
    const parameters = { binding: 0, resource: { buffer: this.#parameters, size: PARAMETER_BYTES } };
    const storage = Array.from(ids, (id, i) => ({ binding: i + 1, resource: { buffer: this.#buffer(id) } }));
    const group = this.#device.createBindGroup({ layout: program.layout, entries: [parameters, ...storage] });
    if (program.groups.size >= MOST_GROUPS) program.groups.clear();
    program.groups.set(key, group);
    return group;
  }

  #destroy(ids: ReadonlySet<number>): void {
    for (const id of ids) {
      this.#buffer(id).destroy();
      this.#buffers.delete(id);
    }
    // Numbers are never used again, but a kept bind group would hold on to the memory.
    for (const { groups } of this.#programs.values())
      for (const key of groups.keys()) if (key.split(',').some((id) => ids.has(Number(id)))) groups.delete(key);
  }

  #growParameters(bytes: number): void {
    const old = this.#parameters;
    this.#parameters = this.#uniformBuffer(2 ** Math.ceil(Math.log2(bytes)));
    for (const { groups } of this.#programs.values()) groups.clear();
    old.destroy();
  }

  #buffer(id: number): GPUBuffer {
    const buffer = this.#buffers.get(id);
    if (buffer === undefined) throw new Error(`Expected GPU buffer ${id} to exist`);
    return buffer;
  }

  #storageBuffer(size: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return this.#device.createBuffer({ size, usage });
  }

  #uniformBuffer(size: number): GPUBuffer {
    return this.#device.createBuffer({ size, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  }
}

async function open({ adapter: wanted, checksOnly, timed }: OpenRequest): Promise<DeviceThread> {
  const dawn = await import('webgpu').catch((error: unknown) => {
    throw new OpenFault('no-package', messageOf(error));
  });
  Object.assign(globalThis, dawn.globals, { setImmediate: patient(setImmediate) });
  const chosen = wanted === null ? [] : [`adapter=${await adapterNamed(wanted)}`];
  const instance = dawn.create([
    ...DAWN_FLAGS,
    ...(timed ? TIMED_FLAGS : []),
    ...chosen,
    ...(checksOnly ? ['backend=null'] : []),
  ]);
  const adapter = await instance.requestAdapter({ powerPreference: 'high-performance' }).catch((error: unknown) => {
    throw new OpenFault('no-adapter', messageOf(error));
  });
  if (adapter === null) throw new OpenFault('no-adapter', 'no adapter was found');
  const small = smallLimits(limitsOf(adapter));
  if (small.length > 0) throw new OpenFault('too-small', `${adapter.info.device} has ${small.join(', ')}`);
  if (timed && !adapter.features.has('timestamp-query'))
    throw new OpenFault('no-clock', `${adapter.info.device} lacks timestamp-query`);
  const unit = unitOf(adapter);
  const requiredFeatures: GPUFeatureName[] = [
    ...(timed ? (['timestamp-query'] as const) : []),
    ...(unit === null ? [] : featuresOf(unit)),
  ];
  const wishes = { requiredLimits: { ...limitsOf(adapter) }, requiredFeatures };
  const device = await adapter.requestDevice(wishes).catch((error: unknown) => {
    throw new OpenFault('no-device', messageOf(error));
  });
  return new DeviceThread(instance, adapter, device, timed);
}

/** How often the thread shows that it lives to one that waits. */
const BEAT_MS = 1000;

const { port, flag } = workerData as { readonly port: MessagePort; readonly flag: Int32Array };
let thread: DeviceThread | null = null;
/** A fault in what nobody waits for: it goes out with the next reply. */
let pending: Reply | null = null;

function reply(message: Reply): void {
  const { bytes } = message as { readonly bytes?: ArrayBuffer };
  port.postMessage(message, bytes === undefined ? [] : [bytes]);
  Atomics.add(flag, 0, 1);
  Atomics.notify(flag, 0);
}

/** Waits for the GPU, and for the bytes that were asked for. */
async function bytesFor(opened: DeviceThread, request: Request): Promise<ArrayBuffer | undefined> {
  if (request.kind === 'read') return opened.read(request);
  if (request.kind === 'finish-read') return opened.readback.finish(request.read);
  await opened.wait();
  return undefined;
}

async function handle(request: Request): Promise<void> {
  if (request.kind === 'open') {
    thread = await open(request);
    return reply({ ok: true, adapter: thread.facts });
  }
  if (thread === null) throw new Error('Expected the GPU to be open');
  if (request.kind === 'batch') return thread.run(request);
  if (request.kind === 'start-read') return thread.startRead(request);
  if (request.kind === 'cancel-read') return thread.readback.cancel(request.read);
  if (request.kind === 'list') return reply({ ok: true, names: (await listAdapters()).map(inWords) });
  if (request.kind === 'times') return reply({ ok: true, times: await thread.times() });
  if (request.kind === 'trial') return reply({ ok: true, room: await thread.room(request.most) });
  if (request.kind === 'lose') {
    thread.lose();
    return reply({ ok: true });
  }
  if (request.kind === 'close') {
    await thread.close();
    return reply({ ok: true });
  }
  const bytes = await bytesFor(thread, request);
  const { faults } = thread;
  const fault = faults.lost ?? pending ?? faults.take();
  pending = null;
  reply(fault ?? { ok: true, ...(bytes && { bytes }) });
}

setInterval(() => void Atomics.add(flag, 1, 1), BEAT_MS).unref();

/** What nobody waits for: its faults go out with the next reply. */
const isPosted = ({ kind }: Request): boolean => kind === 'batch' || kind === 'start-read' || kind === 'cancel-read';

async function fail(request: Request, error: unknown): Promise<void> {
  // What fails after a batch that failed is its consequence.
  if (isPosted(request) && pending !== null) return;
  const fault: Reply =
    (await thread?.faults.reasonOf(error)) ??
    ({ ok: false, fault: error instanceof OpenFault ? error.fault : 'invalid', message: messageOf(error) } as const);
  if (isPosted(request)) {
    pending = fault;
    return;
  }
  reply(thread?.faults.lost ?? pending ?? fault);
  pending = null;
}

// One after the other: a read that waits must not be overtaken.
let turn: Promise<void> = Promise.resolve();
port.on('message', (request: Request) => {
  turn = turn.then(() => handle(request)).catch((error: unknown) => fail(request, error));
});
