import { count } from '../format-text.ts'
import { detailCount, detailLines } from './host-lines.ts'
import { aligned, fit, type Line, type Row, span } from './line.ts'
import { countOf, type RunState, type StepState } from './run-state.ts'
import { shortened, shortenedBefore } from './truncate-rows.ts'
import { passed, stepRow } from './step-row.ts'
import { stoppingText } from './stopping-text.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** So many other steps stay in sight, however many hosts there are. */
const otherSteps = 8

/** What is on the screen now: never wider than it, and one line shorter, because the cursor stands below. */
export function view(state: RunState, now: number, { columns, rows }: Size): Line[] {
  const feet = footer(state, now)
  const room = Math.max(0, rows - 1 - feet.length)
  const { from, to } = position(state)
  const steps = countOf(state)
  const all = state.steps.map((step) => withHosts(stepRow(step, steps, now), state, step))
  const free = Math.max(0, room - (to - from))
  const others = Math.min(all.length - (to - from), otherSteps)
  const details = Math.min(detailCount(state), Math.max(Math.floor(free / 2), free - others))
  const shares = share(from, all.length - to, free - details)
  const before = [...shortenedBefore(all.slice(0, from), shares.before), ...all.slice(from, to)]
  const lines = aligned([...before, ...shortened(all.slice(to), shares.after)], columns)
  const tree = [
    ...lines.slice(0, before.length),
    ...detailLines(state, now, columns, details),
    ...lines.slice(before.length),
  ]
  return [...tree.slice(0, room), ...feet.slice(0, Math.max(0, rows - 1))].map((line) => fit(line, columns))
}

/** Where the step that runs is; between two of them, where the next one will be. */
function position({ steps, running }: RunState): { readonly from: number; readonly to: number } {
  const at = steps.findIndex(({ id }) => id === running)
  if (at !== -1) return { from: at, to: at + 1 }
  const next = steps.findIndex(({ status }) => status === 'pending')
  const from = next === -1 ? steps.length : next
  return { from, to: from }
}

/** What is to come is of more interest than what was. */
function share(
  before: number,
  after: number,
  lines: number,
): { readonly before: number; readonly after: number } {
  const forAfter = Math.min(after, Math.max(Math.ceil(lines / 2), lines - before))
  return { before: Math.min(before, lines - forAfter), after: forAfter }
}

/** How many of its hosts are through, where there are several. */
function withHosts(row: Row, { hosts, running }: RunState, step: StepState): Row {
  if (!step.counts || step.id !== running || step.hosts.length < 2 || hosts.size === 0) return row
  const done = [...hosts.values()].filter(({ status }) => status === 'done').length
  return { ...row, after: `  ${done} of ${step.hosts.length} done` }
}

function footer(state: RunState, now: number): Line[] {
  const { steps, sectionBegun, stopping } = state
  const counting = steps.filter(({ counts }) => counts)
  const done = counting.filter(({ status }) => status === 'done').length
  const parts = [
    `${done} of ${count(counting.length, 'step')}`,
    count(state.changes, 'change'),
    passed(now - (sectionBegun ?? now)),
  ]
  const tally = counting.length === 0 ? [] : [[span(parts.join(', '), 'dim')]]
  return stopping === undefined
    ? tally
    : [...tally, ...stoppingText(stopping).map((text): Line => [span(text, 'yellow')])]
}
