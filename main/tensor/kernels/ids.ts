/**
 * Numbers shared by the AssemblyScript kernels and the TypeScript that calls them: kernel ids and the pool's layout.
 * Plain numeric constants only, because asc compiles this file too.
 */

// Matrix products and their packing.
export const GEMM_PACK = 1;
export const GEMM_TILE = 2;
export const GEMM_DOT = 3;
export const GEMM_ROWS = 4;
export const GEMM_COLUMNS = 5;

// Optimiser, sums and reductions over whole tensors.
export const ADAMW = 10;
export const ADD_IN_PLACE = 11;
export const SUM_SQUARES = 12;
export const ADD = 13;
/** Elements that one tile of these covers. */
export const FLAT_TILE = 16384;

// Row gather and scatter, a row added to all rows, and columns of matrices.
export const GATHER_ROWS = 20;
export const SCATTER_ADD_ROWS = 21;
export const ADD_TO_ROWS = 22;
export const COLUMNS = 23;
// What becomes of them.
export const COPY_COLUMNS = 0;
export const MULTIPLY_COLUMNS = 1;
export const GATE_COLUMNS = 2;

/** Several jobs as one, whose tiles are those of all. */
export const SIDE_BY_SIDE = 30;

// Fused transformer kernels, 40 and up.
export const RMS_NORM = 40;
export const RMS_NORM_GRAD_X = 41;
export const RMS_NORM_GRAD_WEIGHT = 42;
export const SUM_CHUNKS = 43;
export const ROPE = 44;
export const SWIGLU = 45;
export const SWIGLU_GRAD = 46;
export const LAYER_NORM = 47;
export const GELU = 48;
export const ATTENTION = 50;
export const ATTENTION_DELTA = 51;
export const ATTENTION_GRAD_GROUP = 52;
export const ATTENTION_GRAD_KEYS = 53;
export const ATTENTION_GRAD_ROWS = 54;
export const DECODE_ATTENTION = 55;
export const PACK_PREFIX = 56;
export const LOG_SOFTMAX_TILE = 60;
export const LOG_SOFTMAX_GRAD_TILE = 61;
export const SAMPLE_ROW = 62;
export const CONVOLUTION = 70;
export const CONVOLUTION_GRAD = 71;
export const DELTA_RULE = 72;
export const DELTA_RULE_GRAD = 73;
export const DELTA_STEP = 74;
export const CONVOLUTION_STEP = 75;
export const STATE_SPACE_STEP = 76;
/** Tokens of a chunk of the delta rule. */
export const DELTA_CHUNK = 32;

// The pool's control block: byte offsets from its start. Words that different threads write are on different
// cache lines (64 bytes).
export const CONTROL_REMAINING = 0;
export const CONTROL_DONE = 64;
export const CONTROL_EPOCH = 128;
export const CONTROL_SLEEPERS = 192;
export const CONTROL_KERNEL = 256;
export const CONTROL_TILES = 260;
export const CONTROL_CLOSING = 264;
export const CONTROL_FAILED = 268;
/** Not 0: other programs want the cores, so that a thread without work should sleep soon. */
export const CONTROL_CONTENDED = 272;
/** The address of the job's parameters: CONTROL_ARGS, or a place in a list of jobs. */
export const CONTROL_ARGS_AT = 276;
export const CONTROL_WAITING = 320;
export const CONTROL_ARGS = 384;
/** Maximum parameters of one kernel, each an f64. */
export const MAX_ARGS = 80;
export const CONTROL_BYTES = 1024;

// A job in a list: kernel, tiles, whether all threads take part, number of parameters (i32 each); then the parameters.
export const JOB_KERNEL = 0;
export const JOB_TILES = 4;
export const JOB_PARALLEL = 8;
export const JOB_PARAMETERS = 12;
export const JOB_ARGS = 16;

/** Scratch of each thread, in bytes: a kernel may use all of it within one tile, and must not expect it to be cleared. */
export const SCRATCH_BYTES = 2097152;
