import type { Event } from '../../contract/event.ts'
import { duration } from '../../kit/duration.ts'
import { printable } from '../../kit/printable.ts'
import type { Outcome } from '../../lifecycle/event-stream.ts'
import { count } from '../format-text.ts'
import { activityOf } from './host-state.ts'
import { opText, waitText } from './op-text.ts'
import { countOf, runningStep, type RunState } from './run-state.ts'
import { passed } from './step-row.ts'
import { stoppingText } from './stopping-text.ts'
import { type WordsSaid, worthTelling } from './line-throttle.ts'

/** With more hosts than this in a step, nobody reads a line for each thing on each of them. */
const manyHosts = 20
/** After so long without a word, one says that it still goes on. */
const silence = 30_000

/** An event as a line, for what it made of a run; nothing for what a person need not read. */
export function plainLine(said: WordsSaid, run: RunState, event: Event): string | undefined {
  const text = textOf(said, run, event) ?? stillAtIt(said, run, event)
  return text === undefined ? undefined : printable(text.replaceAll(/\s+/g, ' '))
}

function textOf(said: WordsSaid, run: RunState, event: Event): string | undefined {
  const { what, host, component } = event
  const few = (runningStep(run)?.hosts.length ?? 0) <= manyHosts
  switch (what.type) {
    case 'step-started':
      return host === undefined
        ? `${number(run, what.step)}${stepOf(run, what.step)?.title ?? what.step}`
        : undefined
    case 'step-ended':
      if (host === undefined) return stepEnded(run, what.step, what.result.outcome)
      return few || what.result.outcome === 'failed' ? hostEnded(run, host, what.result) : undefined
    case 'op-ended':
      return few && what.result.outcome === 'done' && isOfInterest(what.op)
        ? named(host, component, opText(what.op))
        : undefined
    case 'waiting':
      return (few || host === undefined) && worthTelling(said, run, event)
        ? named(host, component, `${waitText(what.for)}${lasted(run, event)}`)
        : undefined
    case 'stopping':
      return stoppingText(what.because).join('; ')
    default:
      return undefined
  }
}

/** Files and directories are counted; what is downloaded and what runs has a line of its own. */
function isOfInterest({ target }: Extract<Event['what'], { type: 'op-ended' }>['op']): boolean {
  return target === 'service' || target === 'artifact'
}

function stillAtIt({ last }: WordsSaid, run: RunState, { time }: Event): string | undefined {
  const step = runningStep(run)
  if (step === undefined || last === undefined || Date.parse(time) - last < silence) return undefined
  const hosts = [...run.hosts]
  const done = hosts.filter(([, { status }]) => status === 'done').length
  const [slowest] = hosts
    .filter(([, { status }]) => status === 'running')
    .toSorted(([, a], [, b]) => a.ops - b.ops || activityOf(a).since - activityOf(b).since)
  const least =
    slowest === undefined ? '' : `; furthest behind is ${slowest[0]}: ${activityOf(slowest[1]).text}`
  return `${number(run, step.id)}${done} of ${count(step.hosts.length, 'host')} done${least}`
}

/** What only leads to the steps is over when the next thing begins. */
function stepEnded(run: RunState, id: string, outcome: string): string | undefined {
  const { begun, ended, counts, title } = stepOf(run, id) ?? {}
  if (counts !== true && outcome === 'done') return undefined
  const what = counts === true ? outcome : `${outcome}: ${title ?? id}`
  const took = begun === undefined || ended === undefined ? '' : ` (${duration(Math.max(0, ended - begun))})`
  return `${number(run, id)}${what}${took}`
}

function hostEnded({ hosts }: RunState, name: string, result: Outcome): string {
  const changes = hosts.get(name)?.changes ?? 0
  const why = result.outcome === 'failed' ? ` (${result.failure.code})` : ''
  return `${name}: ${result.outcome}${why}${changes === 0 ? '' : `, ${count(changes, 'change')}`}`
}

function lasted({ wait, hosts }: RunState, { host, time }: Event): string {
  const since = host === undefined ? wait?.since : hosts.get(host)?.wait?.since
  const milliseconds = Date.parse(time) - (since ?? Date.parse(time))
  return milliseconds < 1000 ? '' : ` (${passed(milliseconds)})`
}

function named(host: string | undefined, component: string | undefined, text: string): string {
  const who = [host, component].filter((part) => part !== undefined).join('/')
  return who === '' ? text : `${who}: ${text}`
}

/** Which one of those that a person agreed to. */
function number(run: RunState, id: string): string {
  const step = stepOf(run, id)
  return step?.counts === true ? `[${step.number}/${countOf(run)}] ` : ''
}

function stepOf({ steps }: RunState, id: string): RunState['steps'][number] | undefined {
  return steps.find((step) => step.id === id)
}
