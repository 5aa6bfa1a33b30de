import type { HostCallBody } from '../../contract/host-call.ts'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
import { readProgramLines } from '../../ssh/program-lines.ts'
import type { Remote } from '../../ssh/remote.ts'
import { streamHostResponses } from '../../ssh/windows/call-host.ts'
import { findHostProgram } from '../agents/host-program.ts'
import {
  journalFields,
  type LogLine,
  type LogQuery,
  type LogTime,
  parseJournalLine,
  truncateMessage,
} from './log-line.ts'

/**
 * Builds the command line of journalctl. Each user-supplied value is part of one argument with a fixed
 * prefix, so it cannot add options.
 */
export function buildJournalArgs(query: LogQuery): Argv {
  const { components, since, until, lines, follow = false } = query
  return [
    'journalctl',
    '--output=json',
    `--output-fields=${journalFields.join(',')}`,
    '--all',
    '--no-pager',
    ...components.map((name) => `--unit=${name}.service`),
    ...(since === undefined ? [] : [`--since=${formatLogTime(since)}`]),
    ...(until === undefined ? [] : [`--until=${formatLogTime(until)}`]),
    ...(lines === undefined ? [] : [`--lines=${lines}`]),
    ...(needsReverse(query) ? ['--reverse'] : []),
    // Without --no-tail, `journalctl --follow` would print only the last ten lines of the past.
    ...(follow ? ['--follow', ...(lines === undefined ? ['--no-tail'] : [])] : []),
  ]
}

/**
 * True if journalctl must read in reverse to return the last lines. With --since and without --reverse, it
 * returns the first lines instead.
 */
function needsReverse({ since, lines, follow = false }: LogQuery): boolean {
  return since !== undefined && lines !== undefined && !follow
}

function formatLogTime(when: LogTime): string {
  return 'ago' in when ? `-${Math.ceil(when.ago / 1000)}s` : `@${Math.floor(when.at.getTime() / 1000)}`
}

export interface ReadLogOptions {
  readonly mask: SecretMask
  readonly signal: AbortSignal
  readonly limits?: LogLimits
}

/** Limits of what a host may send, in bytes. */
export interface LogLimits {
  /** Maximum size of one line. By default the limit for the output lines of any program. */
  readonly maxLineBytes?: number
  /**
   * Maximum size of a log that arrives in reverse order. All its lines are kept in memory until the end, and
   * are then returned in order.
   */
  readonly maxReversedBytes: number
}

const defaultLimits: LogLimits = { maxReversedBytes: 128 << 20 }
/** Maximum number of components with their own masking state. All further components share one state. */
const maxMasks = 1000

/** Reads the log of a host line by line and masks secrets. Changes nothing and does not use the agent. */
export async function* readHostLog(
  remote: Remote,
  query: LogQuery,
  options: ReadLogOptions,
): AsyncGenerator<LogLine> {
  /** A secret may span several lines, so each component has its own masking state. */
  const masks = new Map<string, (line: string) => string>()
  // The lines are counted here too, so that a host that sends more lines than requested does not fill the
  // memory.
  let remaining = query.follow === true ? Infinity : (query.lines ?? Infinity)
  for await (const line of readRawLog(remote, query, options)) {
    if (remaining <= 0) return
    remaining--
    const component = masks.size < maxMasks || masks.has(line.component) ? line.component : ''
    const maskLine = masks.get(component) ?? options.mask.lines()
    masks.set(component, maskLine)
    yield { ...line, message: truncateMessage(line.message.split('\n').map(maskLine).join('\n')) }
  }
}

function readRawLog(
  remote: Remote,
  query: LogQuery,
  { signal, limits = defaultLimits }: ReadLogOptions,
): AsyncIterable<LogLine> {
  return remote.windows === undefined
    ? readJournal(remote, query, limits, signal)
    : readWindowsLog(remote, query, signal)
}

async function* readJournal(
  remote: Remote,
  query: LogQuery,
  { maxLineBytes, maxReversedBytes }: LogLimits,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const running = await remote.open(buildJournalArgs(query), { signal, root: true })
  try {
    running.stdin.end()
    const origin = { host: remote.host, what: 'journalctl', hint: 'on the host: journalctl --disk-usage' }
    const texts = readProgramLines(running, origin, maxLineBytes)
    for await (const text of needsReverse(query) ? reverse(texts, maxReversedBytes, remote.host) : texts) {
      const line = parseJournalLine(remote.host, text)
      if (line !== undefined) yield line
    }
    const { code, stderr } = await running.ended
    if (code !== 0 && stderr.trim() !== '') {
      const message = `journalctl failed with exit code ${code}: ${toPrintable(stderr.trim().split('\n').at(-1) ?? '')}`
      throw new HyperkubeError('COMMAND_FAILED', message, { host: remote.host })
    }
  } finally {
    running.kill()
  }
}

async function* reverse(
  texts: AsyncIterable<string>,
  maxBytes: number,
  host: string,
): AsyncGenerator<string> {
  const all: string[] = []
  let size = 0
  for await (const text of texts) {
    // Each line needs some memory in addition to its text, even if it is empty.
    size += text.length + 32
    if (size > maxBytes) {
      const message = `journalctl wrote more than ${maxBytes >> 20} MiB and was stopped`
      throw new HyperkubeError('SSH_OUTPUT_TOO_LONG', message, {
        host,
        hint: 'select fewer lines: --lines 1000',
      })
    }
    all.push(text)
  }
  yield* all.toReversed()
}

type LogRequest = Extract<HostCallBody, { type: 'logs' }>

/** Reads the component logs of a Windows host through the hyperkube program on that host. */
export async function* readWindowsLog(
  remote: Remote,
  query: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  for await (const response of streamHostResponses(
    await findHostProgram(remote, signal),
    buildLogRequest(query),
    signal,
  )) {
    if (response.type !== 'line') return
    const { type: _, ...line } = response
    yield { host: remote.host, ...line }
  }
}

function buildLogRequest({ components, since, until, lines, follow = false }: LogQuery): LogRequest {
  return {
    type: 'logs',
    names: components,
    ...(since === undefined ? {} : { since: toRequestTime(since) }),
    ...(until === undefined ? {} : { until: toRequestTime(until) }),
    ...(lines === undefined ? {} : { lines }),
    follow,
  }
}

function toRequestTime(when: LogTime): NonNullable<LogRequest['since']> {
  return 'ago' in when
    ? { by: 'ago', milliseconds: when.ago }
    : { by: 'time', milliseconds: when.at.getTime() }
}
