import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { RunsView } from '../views.ts'
import { badge, command, formatTime, showView, table } from './parts.ts'
import type { ViewState } from './store.ts'

/** Commands that ran on this machine, newest first. */
export function RunsPage({
  view,
  file,
}: {
  readonly view: Signal<ViewState<RunsView>>
  readonly file: string
}): ComponentChild {
  return showView(view.value, 'reading recorded runs', ({ items }) => [
    h(
      'p',
      null,
      'Runs that this machine has recorded. For the steps of one run: ',
      command(`hyperkube runs show RUN -f ${file}`),
    ),
    items.length === 0
      ? h('p', null, 'no run is recorded')
      : table(
          'runs',
          ['Started', 'Command', 'Result', 'Took', 'Run'],
          items.map(({ name, command: typed, started, seconds, outcome = 'no end' }) =>
            h(
              'tr',
              { key: name },
              h('td', null, formatTime(started)),
              h('th', { scope: 'row' }, typed),
              h(
                'td',
                null,
                badge(
                  outcome === 'failed'
                    ? 'bad'
                    : outcome === 'no end' || outcome === 'interrupted'
                      ? 'warn'
                      : 'ok',
                  outcome,
                ),
              ),
              h('td', null, `${seconds.toFixed(1)} s`),
              h('td', null, h('code', null, name)),
            ),
          ),
        ),
  ])
}
