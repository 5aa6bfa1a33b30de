import type { Event } from '../../contract/event.ts'
import type { Output, Paint } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { formatPlainLine } from './plain-line.ts'
import type { ProgressDetail, ProgressRenderer } from './progress.ts'
import { reduceEvents } from './reduce-events.ts'
import { countSteps, isSectionOver, initialRunState, type RunState } from './run-state.ts'
import { formatEndSummary } from './summary.ts'
import { initialThrottle, recordLine, type LineThrottle } from './line-throttle.ts'

export interface PlainOptions {
  readonly output: Output
  readonly paint: Paint
  readonly repeat: (milliseconds: number, callback: () => void) => () => void
  readonly detail: ProgressDetail
}

/** Milliseconds between two writes. */
const flushIntervalMs = 100

/** Shows a run as lines, for logs and terminals without cursor control. */
export function createPlainProgress({ output, paint, repeat, detail }: PlainOptions): ProgressRenderer {
  let state = initialPlainState
  let pending: Event[] = []
  const flush = (): void => {
    if (pending.length === 0) return
    const { text, ...next } = renderPlain(state, pending, paint, detail)
    state = next
    pending = []
    if (text !== '') output.write(text)
  }
  const stop = repeat(flushIntervalMs, flush)
  const flushFindings = (): void => {
    flush()
    const text = formatFindings(state.run.findings.slice(state.findings))
    state = { ...state, findings: state.run.findings.length }
    if (text !== '') output.write(text)
  }
  return {
    onEvent: (event) => void pending.push(event),
    print(text) {
      flushFindings()
      output.write(text)
    },
    close() {
      stop()
      flushFindings()
    },
  }
}

export interface PlainState {
  readonly run: RunState
  readonly throttle: LineThrottle
  /** Number of findings that were printed. */
  readonly findings: number
}

export const initialPlainState: PlainState = { run: initialRunState, throttle: initialThrottle, findings: 0 }

/** Renders events as text and returns the state after these events. */
export function renderPlain(
  state: PlainState,
  events: readonly Event[],
  paint: Paint,
  detail: ProgressDetail = 'normal',
): PlainState & { readonly text: string } {
  let { throttle, findings } = state
  let text = ''
  const run = reduceEvents(state.run, events, (now, event) => {
    // Findings arrive one by one but are printed together, so equal findings of several hosts become one
    // line.
    if (event.body.type !== 'finding' && now.findings.length > findings) {
      text += formatFindings(now.findings.slice(findings))
      findings = now.findings.length
    }
    const line = detail === 'quiet' ? undefined : formatPlainLine(throttle, now, event, detail)
    if (line !== undefined) {
      text += `${formatTimestamp(now, event)} ${line}\n`
      throttle = recordLine(throttle, event)
    }
    text += formatEnding(now, event, paint, detail)
  })
  return { run, throttle, findings, text }
}

function formatEnding(run: RunState, { body, host }: Event, paint: Paint, detail: ProgressDetail): string {
  if (body.type === 'run-ended') return body.result.outcome === 'done' ? '' : formatEndSummary(run, paint)
  if (detail === 'quiet') return ''
  const isStep = body.type === 'step-ended' && host === undefined
  const isLast = isStep && isSectionOver(run) && run.steps.at(-1)?.id === body.step
  return isLast && countSteps(run) > 0 ? formatEndSummary(run, paint) : ''
}

/** Formats the time since the start of the run as 00:07, 12:40 or 1:02:03. */
function formatTimestamp({ startedAt }: RunState, { time }: Event): string {
  const seconds = Math.max(0, Math.floor((Date.parse(time) - (startedAt ?? Date.parse(time))) / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const clock = [minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return hours === 0 ? clock : `${hours}:${clock}`
}
