import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { formatDuration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'
import { collectOutput } from './collect.ts'
import type { ExecOptions, ExecResult } from './remote.ts'
import type { Channel } from './transport.ts'
import { startDeadline, type Deadline } from './deadline.ts'

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
  const message = `waited ${formatDuration(timeout)} for ${formatCommandLine(argv)} to end`
  return startDeadline(signal, timeout, () => new HyperkubeError('TIMED_OUT', message, { host }))
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
  const message = `${formatCommandLine(argv)} wrote more than ${limit >> 20} MiB, and was ended`
  return new HyperkubeError('SSH_OUTPUT_TOO_LONG', message, {
    host,
    hint: 'type the command on the host: something makes it talk without end',
  })
}
