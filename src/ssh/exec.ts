import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { duration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { collect } from './collect.ts'
import type { ExecOptions, ExecResult } from './remote.ts'
import type { Channel } from './transport.ts'
import { expiring, type Limit } from './deadline.ts'

/** Feeds a program that was just started, and waits for all it has to say. */
export async function runToEnd(
  channel: Channel,
  { input, signal }: Pick<ExecOptions, 'input' | 'signal'>,
  what: { readonly host: string; readonly argv: Argv },
): Promise<ExecResult> {
  const abort = (): void => channel.kill(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  const tooMuch = (limit: number): void => channel.kill(tooLong(what, limit))
  try {
    const said = Promise.all([collect(channel.stdout, tooMuch), collect(channel.stderr, tooMuch)])
    feed(channel, input)
    const code = await channel.ended
    const [bytes, stderr] = await said
    return new Ended(code, bytes, stderr)
  } finally {
    signal.removeEventListener('abort', abort)
    if (input instanceof Readable) input.unpipe(channel.stdin).destroy()
  }
}

function feed({ stdin, kill }: Channel, input: ExecOptions['input']): void {
  // A program that ends before it has read its input is judged by its exit code.
  stdin.on('error', () => undefined)
  if (input instanceof Readable) {
    input.on('error', kill)
    input.pipe(stdin)
  } else if (input === undefined) stdin.end()
  else stdin.end(input)
}

/** Text is made of bytes only when somebody asks for it. */
class Ended implements ExecResult {
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

/** The caller's signal, and if a time is given its end. */
export function withTimeout(
  { signal, timeout }: Pick<ExecOptions, 'signal' | 'timeout'>,
  { host, argv }: { readonly host: string; readonly argv: Argv },
): Limit {
  if (timeout === undefined) return { signal, clear: () => undefined }
  const message = `waited ${duration(timeout)} for ${commandText(argv)} to end`
  return expiring(signal, timeout, () => new HyperkubeError('TIMED_OUT', message, { host }))
}

/** A command for a message: its beginning, if it is long. */
export function commandText(argv: Argv): string {
  const text = printable(argv.join(' ').replaceAll(/\s+/g, ' '))
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}

function tooLong({ host, argv }: { host: string; argv: Argv }, limit: number): HyperkubeError {
  const message = `${commandText(argv)} wrote more than ${limit >> 20} MiB, and was ended`
  return new HyperkubeError('SSH_OUTPUT_TOO_LONG', message, {
    host,
    hint: 'type the command on the host: something makes it talk without end',
  })
}
