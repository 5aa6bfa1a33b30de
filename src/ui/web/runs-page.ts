import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { RunsView } from '../views.ts'
import { badge, findOutcomeTone, formatTime, showView, table } from './parts.ts'
import { formatRoute } from './route.ts'
import type { ViewState } from './store.ts'

/** Commands that ran on this machine, newest first. */
export function RunsPage({
  view,
  cluster,
}: {
  readonly view: Signal<ViewState<RunsView>>
  readonly cluster: string
}): ComponentChild {
  return showView(view.value, 'reading recorded runs', ({ items }) => [
    h('p', null, 'Runs that this machine has recorded, the newest first.'),
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
              h('td', null, badge(findOutcomeTone(outcome), outcome)),
              h('td', null, `${seconds.toFixed(1)} s`),
              h(
                'td',
                null,
                h('a', { href: formatRoute({ cluster, page: 'runs', item: name }), 'data-row': true }, name),
              ),
            ),
          ),
        ),
  ])
}
