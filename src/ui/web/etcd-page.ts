import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { EtcdView } from '../views.ts'
import { renderEtcdChart } from './etcd-chart.ts'
import { badge, command, notice, showView, table } from './parts.ts'
import type { ViewState } from './store.ts'

/** Members of etcd, with the size of their databases. */
export function EtcdPage({ view }: { readonly view: Signal<ViewState<EtcdView>> }): ComponentChild {
  return showView(view.value, 'connecting to all members', ({ quorum, members, findings }) => [
    ...findings.map(({ severity, code, message, hint }) =>
      notice(severity, code, h('p', null, message), hint === undefined ? null : command(hint)),
    ),
    h('p', { class: 'counts' }, badge(quorum ? 'ok' : 'bad', quorum ? 'quorum' : 'no quorum')),
    table('members of etcd', heads, members.map(renderMember)),
    renderEtcdChart([...view.value.earlier, ...(view.value.result === undefined ? [] : [view.value.result])]),
  ])
}

const heads = ['Member', 'State', 'Role', 'Database', 'In use', 'Share of the quota', 'Version']

function renderMember(member: EtcdView['members'][number]): ComponentChild {
  const { name, role, ready, reason = 'unreachable', version = '', size, sizeInUse, quota } = member
  return h(
    'tr',
    { key: name },
    h('th', { scope: 'row' }, name),
    h('td', null, badge(ready ? 'ok' : 'bad', ready ? 'ready' : reason)),
    h('td', null, role),
    h('td', null, formatSize(size)),
    h('td', null, formatSize(sizeInUse)),
    h(
      'td',
      null,
      size === undefined || quota === undefined || quota === 0
        ? '-'
        : h('meter', {
            min: 0,
            max: quota,
            high: quota * 0.8,
            value: size,
            'aria-label': `${name} uses ${formatSize(size)} of ${formatSize(quota)}`,
          }),
    ),
    h('td', null, version),
  )
}

function formatSize(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${(bytes / 1_000_000).toFixed(1)} MB`
}
