import { createInterface } from 'node:readline'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import type { Remote } from '../../ssh/remote.ts'
import { journalFields, type LogLine, logLine, shortened } from './log-line.ts'
import { windowsLog } from './windows-log.ts'

/** A time that is told as a time, or as so many milliseconds ago by the clock of the host. */
export type When = { readonly at: Date } | { readonly ago: number }

export interface LogWish {
  readonly components: readonly string[]
  readonly since?: When
  readonly until?: When
  /** Only the last ones. */
  readonly lines?: number
  /** Also what comes from now on. */
  readonly follow?: boolean
}

/** What systemd's journal is asked with. Every word that came from outside is part of one argument. */
export function journalArguments(wish: LogWish): Argv {
  const { components, since, until, lines, follow = false } = wish
  return [
    'journalctl',
    '--output=json',
    `--output-fields=${journalFields.join(',')}`,
    '--all',
    '--no-pager',
    ...components.map((name) => `--unit=${name}.service`),
    ...(since === undefined ? [] : [`--since=${timeText(since)}`]),
    ...(until === undefined ? [] : [`--until=${timeText(until)}`]),
    ...(lines === undefined ? [] : [`--lines=${lines}`]),
    ...(isBackwards(wish) ? ['--reverse'] : []),
    // Those that are asked for without a number of lines would be ten.
    ...(follow ? ['--follow', ...(lines === undefined ? ['--no-tail'] : [])] : []),
  ]
}

/** Of lines since a time, journalctl counts from the first one on unless it goes backwards. */
function isBackwards({ since, lines, follow = false }: LogWish): boolean {
  return since !== undefined && lines !== undefined && !follow
}

function timeText(when: When): string {
  return 'ago' in when ? `-${Math.ceil(when.ago / 1000)}s` : `@${Math.floor(when.at.getTime() / 1000)}`
}

export interface ReadOptions {
  readonly mask: SecretMask
  readonly signal: AbortSignal
}

/** The log of a host, line by line, without secrets. No agent is needed for it, and nothing is changed. */
export async function* hostLog(
  remote: Remote,
  wish: LogWish,
  { mask, signal }: ReadOptions,
): AsyncGenerator<LogLine> {
  /** Lines of one program belong together, whoever speaks in between. */
  const masks = new Map<string, (line: string) => string>()
  for await (const line of linesOf(remote, wish, signal)) {
    const own = masks.get(line.component) ?? mask.lines()
    masks.set(line.component, own)
    yield { ...line, message: shortened(line.message.split('\n').map(own).join('\n')) }
  }
}

function linesOf(remote: Remote, wish: LogWish, signal: AbortSignal): AsyncIterable<LogLine> {
  return remote.windows === undefined ? journal(remote, wish, signal) : windowsLog(remote, wish, signal)
}

async function* journal(remote: Remote, wish: LogWish, signal: AbortSignal): AsyncGenerator<LogLine> {
  const conversation = await remote.open(journalArguments(wish), { signal, root: true })
  try {
    conversation.stdin.end()
    const texts = createInterface({ input: conversation.stdout, crlfDelay: Infinity })
    for await (const text of isBackwards(wish) ? turned(texts) : texts) {
      const line = logLine(remote.host, text)
      if (line !== undefined) yield line
    }
    const { code, stderr } = await conversation.ended
    if (code !== 0 && stderr.trim() !== '') {
      const message = `journalctl ended with ${code}: ${printable(stderr.trim().split('\n').at(-1) ?? '')}`
      throw new HyperkubeError('COMMAND_FAILED', message, { host: remote.host })
    }
  } finally {
    conversation.kill()
  }
}

async function* turned(texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield* (await Array.fromAsync(texts)).toReversed()
}
