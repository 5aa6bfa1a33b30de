import { groupByText, joinNames, toPrintable } from '../../kit/text.ts'
import type { Paint } from '../command/command.ts'
import { formatProgramLogLine } from './log-line.ts'
import { buildLogKey, type FailedItem, type RunState } from './run-state.ts'

const maxLogLines = 20

/** Formats all failures with their last log lines. Equal failures of several hosts are combined. */
export function formatFailures({ failures, logs }: RunState, paint: Paint): string {
  const groups = groupByText(failures, (failure) =>
    JSON.stringify([failure.component, failure.code, stripSubject(failure), failure.hint]),
  )
  return groups
    .map(([, [first, ...others]]) =>
      first === undefined ? '' : formatFailureGroup(first, others, logs, paint),
    )
    .join('')
}

function formatFailureGroup(
  first: FailedItem,
  others: readonly FailedItem[],
  logs: RunState['logs'],
  paint: Paint,
): string {
  const { component, code, hint } = first
  const subject = formatSubject(
    [first, ...others].flatMap(({ host }) => host ?? []),
    component,
  )
  const lines = logs.get(buildLogKey(first.host, component)) ?? []
  const [message = '', ...rest] = stripSubject(first).split('\n')
  // If log lines are printed below, only the first line of the message is shown. The rest of the message
  // repeats these log lines.
  const messageText = lines.length > 0 ? message.replace(/:$/, '') : [message, ...rest].join('\n    ')
  return [
    `${paint('red', '✗')} ${paint('bold', toPrintable(subject === '' ? code : `${subject}: ${code}`))}: ${toPrintable(messageText)}\n`,
    ...lines
      .slice(-maxLogLines)
      .map((line) => `    ${paint('dim', '│')} ${toPrintable(formatProgramLogLine(line))}\n`),
    ...(hint === undefined ? [] : [`  → ${toPrintable(hint)}\n`]),
  ].join('')
}

/**
 * Formats hosts and component of a failure. Hosts are sorted, so the same failure always gives the same text.
 */
function formatSubject(hosts: readonly string[], component: string | undefined): string {
  const names = joinNames(hosts.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })))
  if (component === undefined || names === '') return `${names}${component ?? ''}`
  return hosts.length === 1 ? `${names}/${component}` : `${component} on ${names}`
}

/** Removes host and component from a message, because they are printed before it. */
export function stripSubject({ message, host, component }: FailedItem): string {
  const prefixes = [`${host}/${component}: `, `${host}: `]
  const prefix = prefixes.find((text) => host !== undefined && message.startsWith(text))
  return prefix === undefined
    ? message
    : stripSubject({ ...emptyFailure, message: message.slice(prefix.length), host, component })
}

const emptyFailure = { step: undefined, code: '' }
