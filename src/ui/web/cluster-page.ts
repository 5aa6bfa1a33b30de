import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { DoctorView, StatusView } from '../views.ts'
import { FindingList } from './finding-list.ts'
import { HostGrid } from './host-grid.ts'
import { badge, formatDays, formatShare, formatTime, showView, table } from './parts.ts'
import type { ViewState } from './store.ts'

export interface ClusterPageProps {
  readonly status: Signal<ViewState<StatusView>>
  readonly doctor: Signal<ViewState<DoctorView>>
}

/** What is wrong first, then all components of all hosts. */
export function ClusterPage({ status, doctor }: ClusterPageProps): ComponentChild {
  return h(
    'div',
    null,
    h('h2', null, 'Problems'),
    showView(doctor.value, 'diagnosing hosts, etcd and the API', (document, at) => [
      h('p', { class: 'dim small' }, `diagnosed ${formatTime(at)}`),
      h(FindingList, { view: document }),
    ]),
    h('h2', null, 'Hosts and components'),
    showView(status.value, 'connecting to all hosts', (document) => [
      renderSummary(document),
      h(HostGrid, { hosts: document.hosts }),
      renderAddons(document),
      renderActions(document),
    ]),
  )
}

function renderSummary({ summary }: StatusView): ComponentChild {
  const { kubernetes, hosts, nodes, api, etcd, expiry } = summary
  const share = (label: string, count: { healthy: number; total: number }): ComponentChild =>
    badge(count.healthy === count.total ? 'ok' : 'bad', `${label} ${formatShare(count)}`)
  return h(
    'p',
    { class: 'counts' },
    badge('dim', `Kubernetes ${kubernetes}`),
    share('hosts', hosts),
    share('nodes', nodes),
    share('API servers', api),
    share('etcd', etcd),
    etcd.quorum ? null : badge('bad', 'etcd has no quorum'),
    expiry === undefined
      ? null
      : badge('dim', `first certificate expires ${formatDays(expiry.until, Date.now())}`),
  )
}

function renderAddons({ summary: { addons } }: StatusView): ComponentChild {
  if (addons === undefined || addons.length === 0) return null
  const rows = addons.map(({ name, ready, reason = '' }) =>
    h(
      'tr',
      { key: name },
      h('th', { scope: 'row' }, name),
      h('td', null, badge(ready ? 'ok' : 'bad', ready ? 'ready' : 'not ready')),
      h('td', { class: 'problem' }, reason),
    ),
  )
  return h('div', null, h('h2', null, 'Addons'), table('addons', ['Addon', 'State', 'Reason'], rows))
}

function renderActions({ summary: { actions } }: StatusView): ComponentChild {
  if (actions.length === 0) return null
  const rows = actions.map(({ at, host, component, action, because, outcome }) =>
    h(
      'tr',
      { key: `${at} ${host} ${component}` },
      h('td', null, formatTime(at)),
      h('th', { scope: 'row' }, `${host}/${component}`),
      h('td', { class: outcome === 'failed' ? 'bad' : '' }, `${action} ${outcome}`),
      h('td', { class: 'problem' }, because),
    ),
  )
  const heads = ['Time', 'Component', 'Action', 'Reason']
  return h('div', null, h('h2', null, 'Recent actions of agents'), table('actions of agents', heads, rows))
}
