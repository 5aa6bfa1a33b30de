import type { Event } from '../../contract/event.ts'
import type { Finding } from '../../contract/finding.ts'

type StepOutcome = Extract<Event['body'], { type: 'step-ended' }>['result']

/** One step on one host, with times in milliseconds since 1970. */
export interface TimelineBar {
  readonly title: string
  readonly start: number
  /** Time at which the step ended. If the run stopped during the step, this is the time of its last event. */
  readonly end: number
  readonly outcome: StepOutcome['outcome']
}

export interface TimelineOp {
  readonly host: string
  readonly component: string
  readonly text: string
  readonly start: number
  readonly end: number
  readonly outcome: StepOutcome['outcome']
}

/** The course of a run, read from its event log. */
export interface Timeline {
  readonly command: string
  readonly start: number
  readonly end: number
  /** Undefined if the log has no end, because the process was killed or is still running. */
  readonly result: StepOutcome | undefined
  /** Bars by host; the key of steps without a host is `wholeCluster`. */
  readonly lanes: ReadonlyMap<string, readonly TimelineBar[]>
  readonly ops: readonly TimelineOp[]
  readonly findings: readonly Finding[]
  /** Failures by host and step, in order. */
  readonly failures: readonly { readonly host: string; readonly text: string; readonly hint?: string }[]
}

/** Lane of steps without a host. */
export const wholeCluster = 'all hosts'

/** Builds the timeline of a run from its events. */
export function buildTimeline(events: readonly Event[]): Timeline {
  const times = events.map(({ time }) => Date.parse(time))
  const [start, end] = [Math.min(...times), Math.max(...times)]
  const titles = new Map<string, string>()
  const lanes = new Map<string, TimelineBar[]>()
  const openBars = new Map<
    string,
    { readonly host: string; readonly title: string; readonly start: number }
  >()
  const openOps = new Map<string, number>()
  const ops: TimelineOp[] = []
  const failures: { host: string; text: string; hint?: string }[] = []
  let command = ''
  let result: StepOutcome | undefined
  const closeBar = (key: string, at: number, outcome: StepOutcome['outcome']): void => {
    const bar = openBars.get(key)
    if (bar === undefined) return
    openBars.delete(key)
    const lane = lanes.get(bar.host) ?? []
    lanes.set(bar.host, [...lane, { title: bar.title, start: bar.start, end: at, outcome }])
  }
  for (const { body, time, host = wholeCluster, component = '' } of events) {
    const at = Date.parse(time)
    switch (body.type) {
      case 'run-started':
        ;({ command } = body)
        break
      case 'run-ended':
        ;({ result } = body)
        break
      case 'steps-planned':
        for (const { step, title } of body.steps) titles.set(step, title)
        break
      case 'step-started':
        openBars.set(`${host} ${body.step}`, { host, title: titles.get(body.step) ?? body.step, start: at })
        break
      case 'step-ended':
        closeBar(`${host} ${body.step}`, at, body.result.outcome)
        if (body.result.outcome === 'failed') {
          const { code, message, hint } = body.result.failure
          failures.push({ host, text: `${code}: ${message}`, ...(hint === undefined ? {} : { hint }) })
        }
        break
      case 'op-started':
        openOps.set(`${host} ${describeOp(body.op)}`, at)
        break
      case 'op-ended': {
        const text = describeOp(body.op)
        const { outcome } = body.result
        ops.push({ host, component, text, start: openOps.get(`${host} ${text}`) ?? at, end: at, outcome })
        break
      }
      default:
        break
    }
  }
  for (const key of openBars.keys()) closeBar(key, end, 'interrupted')
  const findings = events.flatMap(({ body, host }) =>
    body.type === 'finding' ? [{ ...body.finding, ...(host === undefined ? {} : { host }) }] : [],
  )
  return { command, start, end, result, lanes, ops, findings, failures }
}

/** Lists the bars of all lanes with their hosts, by start time. */
export function listBars({ lanes }: Timeline): readonly (TimelineBar & { readonly host: string })[] {
  return [...lanes]
    .flatMap(([host, bars]) => bars.map((bar) => ({ host, ...bar })))
    .toSorted((a, b) => a.start - b.start)
}

function describeOp({ action, target, name }: { action: string; target: string; name: string }): string {
  return `${action} ${target} ${name}`
}
