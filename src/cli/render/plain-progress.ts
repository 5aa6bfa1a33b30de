import type { Event } from '../../contract/event.ts'
import type { Output, Paint } from '../command.ts'
import { findingsText } from '../print.ts'
import { plainLine } from './plain-line.ts'
import type { Progress } from './progress.ts'
import { reduce } from './reduce-events.ts'
import { countOf, isSectionOver, nothingYet, type RunState } from './run-state.ts'
import { endSummary } from './summary.ts'
import { nothingSaid, saidAfter, type WordsSaid } from './line-throttle.ts'

export interface PlainOptions {
  readonly output: Output
  readonly paint: Paint
  readonly every: (milliseconds: number, act: () => void) => () => void
}

/** Between two writes, in milliseconds. */
const pause = 100

/** Shows a run line by line, for logs and for terminals that cannot move. */
export function plainProgress({ output, paint, every }: PlainOptions): Progress {
  let state = plainBeginning
  let heard: Event[] = []
  const flush = (): void => {
    if (heard.length === 0) return
    const { text, ...next } = plainText(state, heard, paint)
    state = next
    heard = []
    if (text !== '') output.write(text)
  }
  const stop = every(pause, flush)
  const settle = (): void => {
    flush()
    const text = findingsText(state.run.findings.slice(state.findings))
    state = { ...state, findings: state.run.findings.length }
    if (text !== '') output.write(text)
  }
  return {
    heard: (event) => void heard.push(event),
    say(text) {
      settle()
      output.write(text)
    },
    close() {
      stop()
      settle()
    },
  }
}

export interface PlainState {
  readonly run: RunState
  readonly said: WordsSaid
  /** How many findings were shown. */
  readonly findings: number
}

export const plainBeginning: PlainState = { run: nothingYet, said: nothingSaid, findings: 0 }

/** What some more events make somebody say. */
export function plainText(
  state: PlainState,
  events: readonly Event[],
  paint: Paint,
): PlainState & { readonly text: string } {
  let { said, findings } = state
  let text = ''
  const run = reduce(state.run, events, (now, event) => {
    // Findings come one by one, and are said together: the same one on many hosts is one line.
    if (event.what.type !== 'finding' && now.findings.length > findings) {
      text += findingsText(now.findings.slice(findings))
      findings = now.findings.length
    }
    const line = plainLine(said, now, event)
    if (line !== undefined) {
      text += `${stamp(now, event)} ${line}\n`
      said = saidAfter(said, event)
    }
    text += ending(now, event, paint)
  })
  return { run, said, findings, text }
}

function ending(run: RunState, { what, host }: Event, paint: Paint): string {
  if (what.type === 'run-ended') return what.result.outcome === 'done' ? '' : endSummary(run, paint)
  const isStep = what.type === 'step-ended' && host === undefined
  const isLast = isStep && isSectionOver(run) && run.steps.at(-1)?.id === what.step
  return isLast && countOf(run) > 0 ? endSummary(run, paint) : ''
}

/** Since the run began: 00:07, 12:40, 1:02:03. */
function stamp({ begun }: RunState, { time }: Event): string {
  const seconds = Math.max(0, Math.floor((Date.parse(time) - (begun ?? Date.parse(time))) / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const clock = [minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return hours === 0 ? clock : `${hours}:${clock}`
}
