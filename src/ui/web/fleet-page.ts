import { type Signal, useSignal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { FleetView, Overview } from '../views.ts'
import { badge, command, formatDays, formatShare, showView, table, type Tone } from './parts.ts'
import { formatRoute } from './route.ts'
import type { ViewState } from './store.ts'

type Cluster = FleetView['items'][number]

export const healthTones: Readonly<Record<Cluster['health'], Tone>> = {
  healthy: 'ok',
  degraded: 'warn',
  unhealthy: 'bad',
  unknown: 'bad',
}

export interface FleetPageProps {
  readonly view: Signal<ViewState<FleetView>>
  readonly overview: Overview
}

/** All clusters of the fleet. The server sends the worst first. */
export function FleetPage({ view, overview }: FleetPageProps): ComponentChild {
  const filter = useSignal('')
  return showView(view.value, 'connecting to all clusters of the fleet', ({ items }) => {
    const files = new Map(overview.clusters.map(({ name, file }) => [name, file]))
    const shown = items.filter((cluster) => matches(cluster, filter.value))
    return [
      h('p', { class: 'counts', key: 'counts' }, countHealth(items)),
      h(
        'p',
        { key: 'filter' },
        h('label', { for: 'filter' }, 'Filter by name, label or problem '),
        h('input', {
          id: 'filter',
          type: 'search',
          value: filter.value,
          onInput: (event: Event) => {
            if (event.target instanceof HTMLInputElement) filter.value = event.target.value
          },
        }),
        h('span', { class: 'dim', role: 'status' }, ` ${shown.length} of ${items.length}`),
      ),
      table(
        'clusters',
        heads,
        shown.map((cluster) => renderCluster(cluster, files.get(cluster.name) ?? 'cluster.yml')),
        'clusters',
      ),
    ]
  })
}

const heads = [
  'Cluster',
  'Health',
  'Problem and next command',
  'Kubernetes',
  'Hosts',
  'Nodes',
  'API',
  'etcd',
  'First expiry',
]

function countHealth(items: readonly Cluster[]): ComponentChild[] {
  const states = ['unhealthy', 'unknown', 'degraded', 'healthy'] as const
  return states.flatMap((health) => {
    const count = items.filter((one) => one.health === health).length
    return count === 0 ? [] : [badge(healthTones[health], `${count} ${health}`)]
  })
}

function matches({ name, labels, health, problems }: Cluster, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/)
  const text = [name, health, ...Object.entries(labels).map((pair) => pair.join('=')), ...problems]
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

function renderCluster(
  { name, labels, health, summary, problems: [first = ''] }: Cluster,
  file: string,
): ComponentChild {
  const labelText = Object.entries(labels).flatMap(([key, value]) =>
    key === 'name' ? [] : [`${key}=${value}`],
  )
  return h(
    'tr',
    { key: name },
    h(
      'th',
      { scope: 'row' },
      h('a', { href: formatRoute({ cluster: name, page: 'overview' }), 'data-row': true }, name),
      labelText.length === 0 ? null : h('div', { class: 'dim small' }, labelText.join(' ')),
    ),
    h('td', null, badge(healthTones[health], health)),
    h(
      'td',
      { class: 'problem' },
      first,
      health === 'healthy' ? null : h('div', null, command(`hyperkube doctor -f ${file}`)),
    ),
    h('td', null, summary?.kubernetes ?? '?'),
    [summary?.hosts, summary?.nodes, summary?.api, summary?.etcd].map((count, index) =>
      h(
        'td',
        { key: index, class: count === undefined || count.healthy === count.total ? '' : 'bad' },
        count === undefined ? '?' : formatShare(count),
      ),
    ),
    h('td', null, formatDays(summary?.expiry?.until, Date.now())),
  )
}
