import { Readable } from 'node:stream'
import { ByteBuffer } from '../kit/byte-buffer.ts'
import type { Argv } from '../kit/command.ts'
import { formatDuration } from '../kit/time-format.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import type { ExecOptions, ExecResult, RunningProgram } from './remote.ts'
import type { Channel } from './transport.ts'

/** Sends input to a started program and waits until it ends. Returns its output and exit code. */
export async function runToEnd(
  channel: Channel,
  { input, signal }: Pick<ExecOptions, 'input' | 'signal'>,
  what: { readonly host: string; readonly argv: Argv },
): Promise<ExecResult> {
  const abort = (): void => channel.kill(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const onLimit = (limit: number): void => channel.kill(buildOutputTooLongError(what, limit))
  try {
    const output = Promise.all([
      collectOutput(channel.stdout, onLimit),
      collectOutput(channel.stderr, onLimit),
    ])
    writeInput(channel, input)
    const code = await channel.ended
    const [bytes, stderr] = await output
    return new EndedProgram(code, bytes, stderr)
  } finally {
    signal.removeEventListener('abort', abort)
    if (input instanceof Readable) input.unpipe(channel.stdin).destroy()
  }
}

function writeInput({ stdin, kill }: Channel, input: ExecOptions['input']): void {
  // A program may end before it has read its input. This is not an error: only the exit code counts.
  stdin.on('error', () => undefined)
  if (input instanceof Readable) {
    input.on('error', kill)
    input.pipe(stdin)
  } else if (input === undefined) stdin.end()
  else stdin.end(input)
}

/** Result of an ended program. Its output is decoded only on demand. */
class EndedProgram implements ExecResult {
  readonly code: number
  readonly bytes: Buffer
  readonly #stderr: Buffer

  constructor(code: number, bytes: Buffer, stderr: Buffer) {
    this.code = code
    this.bytes = bytes
    this.#stderr = stderr
  }

  get stdout(): string {
    return this.bytes.toString('utf8')
  }

  get stderr(): string {
    return this.#stderr.toString('utf8')
  }
}

/** Combines the caller's signal with the timeout, if one is set. */
export function withTimeout(
  { signal, timeout }: Pick<ExecOptions, 'signal' | 'timeout'>,
  { host, argv }: { readonly host: string; readonly argv: Argv },
): Deadline {
  if (timeout === undefined) return { signal, clear: () => undefined }
  const message = `${formatCommandLine(argv)} did not end within ${formatDuration(timeout)}`
  return startDeadline(signal, timeout, () => new HyperkubeError('TIMED_OUT', message, { host }))
}

/** Creates a RunningProgram from a channel. An abort of the signal kills the program. */
export function wrapProgram(channel: Channel, signal: AbortSignal): RunningProgram {
  const abort = (): void => channel.kill(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const tail = collectOutputTail(channel.stderr)
  const ended = channel.ended
    .then(async (code) => ({ code, stderr: (await tail).toString('utf8') }))
    .finally(() => signal.removeEventListener('abort', abort))
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  return {
    stdin: channel.stdin,
    stdout: channel.stdout,
    ended,
    kill: () => channel.kill(new Error('ended by its caller')),
  }
}

/**
 * Maximum output size in bytes, larger than any expected output. Endless output of a host must not fill the
 * memory.
 */
const maxBytes = 64 << 20

/** Collects a stream until its end. `onLimit` is called when the stream exceeds the limit. */
async function collectOutput(stream: Readable, onLimit: (limit: number) => void): Promise<Buffer> {
  const output = new ByteBuffer()
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      if (output.length + chunk.length <= maxBytes) output.append(chunk)
      else onLimit(maxBytes)
    })
    const done = (): void => resolve(output.take())
    stream.once('end', done).once('close', done)
    // Stream errors are ignored: the exit code or the connection shows how the program ended.
    stream.on('error', () => undefined)
  })
}

/** Returns the last `keep` bytes of a stream of any length. */
export async function collectOutputTail(stream: Readable, keep = 16 << 10): Promise<Buffer> {
  let tail: Buffer = Buffer.alloc(0)
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      tail = Buffer.concat([tail, chunk]).subarray(-keep)
    })
    const done = (): void => resolve(tail)
    stream.on('end', done).on('close', done)
    stream.on('error', () => undefined)
  })
}

/** Formats a command for a message, shortened to 80 characters. */
export function formatCommandLine(argv: Argv): string {
  const text = toPrintable(argv.join(' ').replaceAll(/\s+/g, ' '))
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}

function buildOutputTooLongError(
  { host, argv }: { host: string; argv: Argv },
  limit: number,
): HyperkubeError {
  const message = `${formatCommandLine(argv)} wrote more than ${limit >> 20} MiB of output and was stopped`
  return new HyperkubeError('SSH_OUTPUT_TOO_LONG', message, {
    host,
    hint: 'run the command on the host and check its output',
  })
}
