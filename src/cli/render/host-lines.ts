import { count } from '../format-text.ts'
import { failureMessage } from './failure-text.ts'
import { activityOf, arrived, type HostState } from './host-state.ts'
import { fit, gap, type Line, span, widthOf } from './line.ts'
import { waitText } from './op-text.ts'
import { runningStep, type RunState } from './run-state.ts'
import { passed } from './step-row.ts'
import { width } from './text-width.ts'

const indent = gap(4)
const longestName = 24
/** What is over sooner needs no time beside it. */
const worthSaying = 2000

/** What the step waits for, and what each host is at, in at most so many lines. */
export function detailLines(state: RunState, now: number, columns: number, most: number): Line[] {
  if (most <= 0) return []
  const wait = state.wait === undefined ? [] : [waitLine(state.wait, now, columns)]
  return [...wait, ...hostLines(state, now, columns, most - wait.length)].slice(0, most)
}

/** How many lines there would be with room for all. */
export function detailCount(state: RunState): number {
  return hostsOf(state).length + (state.wait === undefined ? 0 : 1)
}

function waitLine(wait: NonNullable<RunState['wait']>, now: number, columns: number): Line {
  return withTime([indent, span(waitText(wait.for), 'yellow')], now - wait.since, columns)
}

type Named = readonly [name: string, host: HostState]

function hostsOf(state: RunState): Named[] {
  const names = runningStep(state)?.hosts ?? []
  // Those that nobody planned are shown as well, last.
  const all = new Set([...names, ...state.hosts.keys()])
  return [...all].flatMap((name) => {
    const host = state.hosts.get(name)
    return host === undefined ? [] : [[name, host] as const]
  })
}

/** All of them in their order, where there is room; else those that matter most, and how many more there are. */
function hostLines(state: RunState, now: number, columns: number, most: number): Line[] {
  const hosts = hostsOf(state)
  if (hosts.length <= most) return linesOf(state, hosts, now, columns)
  if (most <= 0) return []
  const urgent = byUrgency(hosts.filter(([, { status }]) => status !== 'done'))
  const isRestDone = urgent.length < most
  const shown = urgent.slice(0, most - 1)
  const rest = isRestDone ? hosts.length - urgent.length : urgent.length - shown.length
  return [...linesOf(state, shown, now, columns), andMore(rest, isRestDone ? 'done' : '')]
}

/** First what failed, then who has come least far: that is who the others wait for. */
function byUrgency(hosts: readonly Named[]): Named[] {
  return hosts
    .map(([name, host]) => ({ name, host, arrived: arrived(host), since: activityOf(host).since }))
    .toSorted(
      (a, b) =>
        Number(b.host.status === 'failed') - Number(a.host.status === 'failed') ||
        a.host.ops - b.host.ops ||
        a.arrived - b.arrived ||
        a.since - b.since ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ name, host }) => [name, host])
}

function andMore(amount: number, what: string): Line {
  return [indent, span(`… and ${amount} more ${what}`.trimEnd(), 'dim')]
}

function linesOf(state: RunState, hosts: readonly Named[], now: number, columns: number): Line[] {
  const longest = Math.min(longestName, Math.max(0, ...hosts.map(([name]) => width(name))))
  return hosts.map(([name, host]) => {
    const shown = fit([span(name)], longest)
    const start = [indent, ...shown, gap(longest - widthOf(shown) + 2)]
    switch (host.status) {
      case 'done':
        return fit(
          [...start, span(`✓ ${host.changes === 0 ? 'done' : count(host.changes, 'change')}`, 'dim')],
          columns,
        )
      case 'failed':
        return fit([...start, span(failureOf(state, name), 'red')], columns)
      case 'interrupted':
        return fit([...start, span('interrupted', 'yellow')], columns)
      default:
        return withTime([...start, span(activityOf(host).text)], now - activityOf(host).since, columns)
    }
  })
}

function failureOf({ failures }: RunState, name: string): string {
  const failure = failures.find(({ host }) => host === name)
  return failure === undefined ? '✗ failed' : `✗ ${failure.code}: ${failureMessage(failure)}`
}

/** How long it lasts stays in sight, however long the text is. */
function withTime(line: Line, milliseconds: number, columns: number): Line {
  if (milliseconds < worthSaying) return fit(line, columns)
  const time = span(` (${passed(milliseconds)})`, 'dim')
  return fit([...fit(line, columns - width(time.text)), time], columns)
}
