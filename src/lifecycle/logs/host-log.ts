import { createInterface } from 'node:readline'
import type { HostCallBody } from '../../contract/host-call.ts'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import { toPrintable } from '../../kit/text.ts'
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
 * True if journalctl must read in reverse. With --since and without --reverse, --lines counts from the start.
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
}

/** Reads the log of a host line by line and masks secrets. Changes nothing and does not use the agent. */
export async function* readHostLog(
  remote: Remote,
  query: LogQuery,
  { mask, signal }: ReadLogOptions,
): AsyncGenerator<LogLine> {
  /** A secret may span several lines, so each component has its own masking state. */
  const masks = new Map<string, (line: string) => string>()
  for await (const line of readLines(remote, query, signal)) {
    const maskLine = masks.get(line.component) ?? mask.lines()
    masks.set(line.component, maskLine)
    yield { ...line, message: truncateMessage(line.message.split('\n').map(maskLine).join('\n')) }
  }
}

function readLines(remote: Remote, query: LogQuery, signal: AbortSignal): AsyncIterable<LogLine> {
  return remote.windows === undefined
    ? readJournal(remote, query, signal)
    : readWindowsLog(remote, query, signal)
}

async function* readJournal(remote: Remote, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogLine> {
  const running = await remote.open(buildJournalArgs(query), { signal, root: true })
  try {
    running.stdin.end()
    const texts = createInterface({ input: running.stdout, crlfDelay: Infinity })
    for await (const text of needsReverse(query) ? reverse(texts) : texts) {
      const line = parseJournalLine(remote.host, text)
      if (line !== undefined) yield line
    }
    const { code, stderr } = await running.ended
    if (code !== 0 && stderr.trim() !== '') {
      const message = `journalctl ended with ${code}: ${toPrintable(stderr.trim().split('\n').at(-1) ?? '')}`
      throw new HyperkubeError('COMMAND_FAILED', message, { host: remote.host })
    }
  } finally {
    running.kill()
  }
}

async function* reverse(texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield* (await Array.fromAsync(texts)).toReversed()
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
