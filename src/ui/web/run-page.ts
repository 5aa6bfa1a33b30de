import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { RunView } from '../views.ts'
import { badge, command, findOutcomeTone, formatTime, notice, showView, table } from './parts.ts'
import type { ViewState } from './store.ts'

type HostRun = RunView['hosts'][number]
type Step = HostRun['steps'][number]

/** A run without an end is assumed to be running until it has been silent for this long. */
const maxSilenceMs = 600_000
/** Width of a timeline in units of its own coordinates. */
const width = 1000

/** Returns true if the run may still be running, so that its view is read again. */
export function isLive({ result }: ViewState<RunView>): boolean {
  if (result?.state !== 'read' || result.document.outcome !== undefined) return false
  return Date.parse(result.at) - Date.parse(result.document.lastEvent) < maxSilenceMs
}

/** One run: problems first, then what it waits for, then a timeline per host. */
export function RunPage({ view }: { readonly view: Signal<ViewState<RunView>> }): ComponentChild {
  return showView(view.value, 'reading the events of the run', (run, at) => [
    h(
      'p',
      { key: 'state', 'aria-live': 'polite' },
      h('strong', null, `${run.command} `),
      badge(findOutcomeTone(run.outcome ?? ''), run.outcome ?? describeOpenRun(run, at)),
      ` started ${formatTime(run.started)}, ${formatSeconds(run.started, run.lastEvent)}`,
    ),
    ...run.failures.map(({ host, text, hint }) =>
      notice('error', host, h('p', { class: 'lines' }, text), hint === undefined ? null : command(hint)),
    ),
    ...run.waits.map(({ host, for: reason, since }) =>
      h('p', { key: `wait ${host}` }, `${host} waits ${formatSeconds(since, at)} for ${reason}`),
    ),
    run.hosts.length === 0
      ? h('p', { key: 'none' }, 'no step has started')
      : table(
          'timeline per host',
          ['Host', 'Timeline', 'Last step', 'Result'],
          run.hosts.map((host) => renderHost(host, run)),
          'timeline',
        ),
    h('h2', { key: 'head' }, 'Steps'),
    table(
      'steps',
      ['At', 'Took', 'Host', 'Step', 'Result'],
      listSteps(run).map(({ host, title, started, ended, outcome }, index) =>
        h(
          'tr',
          { key: index },
          h('td', null, formatSeconds(run.started, started)),
          h('td', null, formatSeconds(started, ended)),
          h('th', { scope: 'row' }, host),
          h('td', null, title),
          h('td', null, badge(findOutcomeTone(outcome), outcome)),
        ),
      ),
    ),
  ])
}

function describeOpenRun({ lastEvent }: RunView, at: string): string {
  return `no end recorded, last event ${formatSeconds(lastEvent, at)} ago`
}

function renderHost({ host, steps }: HostRun, { started, lastEvent }: RunView): ComponentChild {
  const last = steps.at(-1)
  return h(
    'tr',
    { key: host },
    h('th', { scope: 'row' }, host),
    h('td', { class: 'lane' }, renderLane(steps, Date.parse(started), Date.parse(lastEvent))),
    h('td', null, last?.title ?? '-'),
    h('td', null, last === undefined ? '-' : badge(findOutcomeTone(last.outcome), last.outcome)),
  )
}

/** Draws the steps of a host. Screen readers get the table of steps instead. */
function renderLane(steps: readonly Step[], start: number, end: number): ComponentChild {
  const scale = (time: string): number => ((Date.parse(time) - start) / Math.max(1, end - start)) * width
  return h(
    'svg',
    { viewBox: `0 0 ${width} 16`, preserveAspectRatio: 'none', 'aria-hidden': true },
    steps.map(({ title, started, ended, outcome }, index) =>
      h(
        'rect',
        {
          key: index,
          ...{ class: findOutcomeTone(outcome), x: scale(started), y: 1, height: 14 },
          // A short step must remain visible.
          width: Math.max(2, scale(ended) - scale(started)),
        },
        h('title', null, `${title}: ${outcome}, ${formatSeconds(started, ended)}`),
      ),
    ),
  )
}

function listSteps({ hosts }: RunView): readonly (Step & { readonly host: string })[] {
  return hosts
    .flatMap(({ host, steps }) => steps.map((step) => ({ host, ...step })))
    .toSorted((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0))
}

function formatSeconds(from: string, to: string): string {
  const seconds = Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}
