import type { Event } from '../../contract/event.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { StepResult } from '../../lifecycle/agents/event-stream.ts'
import { describeActivity } from './host-state.ts'
import type { ProgressDetail } from './progress.ts'
import { type LineThrottle, shouldReportWait } from './line-throttle.ts'
import { formatEndedOp, formatWait } from './op-text.ts'
import { countSteps, isFleetRun, runningStep, type RunState } from './run-state.ts'
import { formatElapsed } from './step-row.ts'
import { formatStopping } from './stopping-text.ts'

/** If the running step has more hosts than this, only failed hosts get their own lines. */
const manyHosts = 20
/** Milliseconds without a line after which the progress is printed. */
const maxSilenceMs = 30_000

/** Formats an event as a line; undefined if the event is not printed. */
export function formatPlainLine(
  throttle: LineThrottle,
  run: RunState,
  event: Event,
  detail: ProgressDetail = 'normal',
): string | undefined {
  const text =
    formatEvent(throttle, run, event, detail === 'verbose') ?? formatStillRunning(throttle, run, event)
  return text === undefined ? undefined : toPrintable(text.replaceAll(/\s+/g, ' '))
}

function formatEvent(
  throttle: LineThrottle,
  run: RunState,
  event: Event,
  isVerbose: boolean,
): string | undefined {
  const { body, host, component } = event
  const hasFewHosts = isVerbose || (runningStep(run)?.hosts.length ?? 0) <= manyHosts
  switch (body.type) {
    case 'step-started':
      return host === undefined
        ? `${formatStepNumber(run, body.step)}${findStep(run, body.step)?.title ?? body.step}`
        : undefined
    case 'step-ended':
      if (host === undefined) return formatStepEnd(run, body.step, body.result.outcome)
      return hasFewHosts || body.result.outcome === 'failed'
        ? formatHostEnd(run, host, body.result)
        : undefined
    case 'op-ended':
      return hasFewHosts &&
        body.result.outcome === 'done' &&
        (isVerbose || (isShown(body.op) && !isFleetRun(run)))
        ? prefixSubject(host, component, formatEndedOp(body.op))
        : undefined
    case 'waiting':
      return (hasFewHosts || host === undefined) && shouldReportWait(throttle, run, event)
        ? prefixSubject(host, component, `${formatWait(body.for)}${formatWaitTime(run, event)}`)
        : undefined
    case 'stopping':
      return formatStopping(body.because).join('; ')
    default:
      return undefined
  }
}

/** True for ops that get their own line: programs and services. Other ops are only counted. */
function isShown({ target }: Extract<Event['body'], { type: 'op-ended' }>['op']): boolean {
  return target === 'service' || target === 'artifact'
}

function formatStillRunning({ last }: LineThrottle, run: RunState, { time }: Event): string | undefined {
  const step = runningStep(run)
  if (step === undefined || last === undefined || Date.parse(time) - last < maxSilenceMs) return undefined
  const hosts = [...run.hosts]
  const done = hosts.filter(([, { status }]) => status === 'done').length
  const [slowest] = hosts
    .filter(([, { status }]) => status === 'running')
    .toSorted(
      ([, a], [, b]) => a.endedOps - b.endedOps || describeActivity(a).since - describeActivity(b).since,
    )
  const slowestText =
    slowest === undefined ? '' : `; slowest host ${slowest[0]}: ${describeActivity(slowest[1]).text}`
  return `${formatStepNumber(run, step.id)}${done} of ${formatCount(step.hosts.length, 'host')} done${slowestText}`
}

/** Formats the end of a step. A successful step without a number gets no line. */
function formatStepEnd(run: RunState, id: string, outcome: string): string | undefined {
  const { startedAt, endedAt, isCounted, title } = findStep(run, id) ?? {}
  if (isCounted !== true && outcome === 'done') return undefined
  const what = isCounted === true ? outcome : `${outcome}: ${title ?? id}`
  const elapsed =
    startedAt === undefined || endedAt === undefined
      ? ''
      : ` (${formatDuration(Math.max(0, endedAt - startedAt))})`
  return `${formatStepNumber(run, id)}${what}${elapsed}`
}

function formatHostEnd({ hosts }: RunState, name: string, result: StepResult): string {
  const changes = hosts.get(name)?.changes ?? 0
  const codeText = result.outcome === 'failed' ? ` (${result.failure.code})` : ''
  return `${name}: ${result.outcome}${codeText}${changes === 0 ? '' : `, ${formatCount(changes, 'change')}`}`
}

function formatWaitTime({ wait, hosts }: RunState, { host, time }: Event): string {
  const since = host === undefined ? wait?.since : hosts.get(host)?.wait?.since
  const milliseconds = Date.parse(time) - (since ?? Date.parse(time))
  return milliseconds < 1000 ? '' : ` (${formatElapsed(milliseconds)})`
}

function prefixSubject(host: string | undefined, component: string | undefined, text: string): string {
  const subject = [host, component].filter((part) => part !== undefined).join('/')
  return subject === '' ? text : `${subject}: ${text}`
}

/** Formats the number of a step, which is the same as in the confirmed plan. */
function formatStepNumber(run: RunState, id: string): string {
  const step = findStep(run, id)
  return step?.isCounted === true ? `[${step.number}/${countSteps(run)}] ` : ''
}

function findStep({ steps }: RunState, id: string): RunState['steps'][number] | undefined {
  return steps.find((step) => step.id === id)
}
