import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'
import { alike, listed } from '../format-text.ts'
import { logLine } from './log-line.ts'
import { type FailedThing, logKey, type RunState } from './run-state.ts'

/** How many lines of a log are shown. */
const lastLines = 20

/** All that failed, with what the programs wrote last; what failed alike on many hosts is said once. */
export function failuresText({ failures, logs }: RunState, paint: Paint): string {
  const groups = alike(failures, (one) =>
    JSON.stringify([one.component, one.code, failureMessage(one), one.hint]),
  )
  return groups
    .map(([, [first, ...more]]) => (first === undefined ? '' : failureText(first, more, logs, paint)))
    .join('')
}

function failureText(
  first: FailedThing,
  more: readonly FailedThing[],
  logs: RunState['logs'],
  paint: Paint,
): string {
  const { component, code, hint } = first
  const who = whoOf(
    [first, ...more].flatMap(({ host }) => host ?? []),
    component,
  )
  const lines = logs.get(logKey(first.host, component)) ?? []
  const [message = '', ...rest] = failureMessage(first).split('\n')
  // The message of a service that fails brings its log along, which is shown below.
  const said = lines.length > 0 ? message.replace(/:$/, '') : [message, ...rest].join('\n    ')
  return [
    `${paint('red', '✗')} ${paint('bold', printable(who === '' ? code : `${who}: ${code}`))}: ${printable(said)}\n`,
    ...lines.slice(-lastLines).map((line) => `    ${paint('dim', '│')} ${printable(logLine(line))}\n`),
    ...(hint === undefined ? [] : [`  → ${printable(hint)}\n`]),
  ].join('')
}

/** Whichever host failed first: the same failure shall read the same. */
function whoOf(hosts: readonly string[], component: string | undefined): string {
  const names = listed(hosts.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })))
  if (component === undefined || names === '') return `${names}${component ?? ''}`
  return hosts.length === 1 ? `${names}/${component}` : `${component} on ${names}`
}

/** Whom it happened to is said before it, once. */
export function failureMessage({ message, host, component }: FailedThing): string {
  const places = [`${host}/${component}: `, `${host}: `]
  const place = places.find((text) => host !== undefined && message.startsWith(text))
  return place === undefined
    ? message
    : failureMessage({ ...noPlace, message: message.slice(place.length), host, component })
}

const noPlace = { step: undefined, code: '' }
