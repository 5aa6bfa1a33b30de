import { h, type ComponentChild, type ComponentChildren } from 'preact'
import type { ViewState } from './store.ts'

/** Colour of a text by its meaning. The text itself always says the same. */
export type Tone = 'ok' | 'warn' | 'bad' | 'dim'

export function badge(tone: Tone, text: string): ComponentChild {
  return h('span', { class: `badge ${tone}` }, text)
}

/** Returns the colour for the outcome of a run or a step. */
export function findOutcomeTone(outcome: string): Tone {
  if (outcome === 'failed') return 'bad'
  return outcome === 'done' || outcome === 'unchanged' ? 'ok' : 'warn'
}

/** A command in its own line, which is easy to select. */
export function command(text: string): ComponentChild {
  return h('code', { class: 'command', tabIndex: 0, 'aria-label': `command: ${text}` }, text)
}

/** A table that scrolls inside the page. The keyboard can scroll it too. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly ComponentChild[],
  name = '',
): ComponentChild {
  return h(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label },
    h(
      'table',
      { class: name },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          heads.map((head) => h('th', { scope: 'col', key: head }, head)),
        ),
      ),
      h('tbody', null, rows),
    ),
  )
}

export function notice(
  severity: 'error' | 'warning',
  title: string,
  ...body: ComponentChildren[]
): ComponentChild {
  return h('div', { class: `notice ${severity}` }, h('strong', null, `${severity} ${title}`), ...body)
}

/** Shows a view: its document, why it could not be read, or that it is being read. */
export function showView<T>(
  { result, isReading, connection }: ViewState<T>,
  waiting: string,
  render: (document: T, at: string) => ComponentChildren,
): ComponentChild {
  return h(
    'div',
    { 'aria-busy': isReading },
    connection === undefined
      ? null
      : notice('error', 'no connection', h('p', null, `hyperkube ui did not respond: ${connection}`)),
    result === undefined && isReading ? h('p', { class: 'dim', role: 'status' }, waiting) : null,
    result?.state === 'failed'
      ? notice(
          'error',
          result.failure.code,
          h('p', { class: 'lines' }, result.failure.message),
          result.failure.hint === undefined ? null : command(result.failure.hint),
        )
      : null,
    result?.state === 'read' ? render(result.document, result.at) : null,
  )
}

/** Formats a time of the server in the local time zone. */
export function formatTime(time: string | undefined): string {
  if (time === undefined) return '-'
  const date = new Date(time)
  const pad = (number: number): string => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}`
}

/** Formats the days until a time, for example `in 12 days`. */
export function formatDays(time: string | undefined, now: number): string {
  if (time === undefined) return '-'
  const days = Math.floor((Date.parse(time) - now) / 86_400_000)
  if (days < 0) return days === -1 ? 'yesterday' : `${-days} days ago`
  if (days < 2) return days === 0 ? 'today' : 'tomorrow'
  return `in ${days} days`
}

export function formatShare({ healthy, total }: { healthy: number; total: number }): string {
  return `${healthy}/${total}`
}
