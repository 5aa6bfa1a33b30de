import { duration } from '../../kit/duration.ts'
import { gap, type Row, type Span, span } from './line.ts'
import type { StepState } from './run-state.ts'

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** How often what moves is drawn, in milliseconds. */
export const frameTime = 100

/** A step; those that a person agreed to have the number they had then. */
export function stepRow(step: StepState, steps: number, now: number): Row {
  const title = step.counts ? `${step.number}. ${step.title}` : step.title
  const before = step.counts ? String(steps).length - String(step.number).length : 0
  return {
    left: [mark(step, now), gap(1 + before), span(title, step.status === 'pending' ? 'dim' : undefined)],
    right: timeOf(step, now),
  }
}

function mark({ status }: StepState, now: number): Span {
  switch (status) {
    case 'done':
      return span('✓', 'green')
    case 'failed':
      return span('✗', 'red')
    case 'interrupted':
      return span('■', 'yellow')
    case 'running':
      return span(spinner[Math.floor(Math.max(0, now) / frameTime) % spinner.length] ?? '', 'cyan')
    default:
      return span('·', 'dim')
  }
}

function timeOf({ begun, ended }: StepState, now: number): string {
  if (begun === undefined) return ''
  return ended === undefined ? passed(now - begun) : duration(Math.max(0, ended - begun))
}

/** How long something lasts that still does: tenths would only flicker. */
export function passed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000)
}
