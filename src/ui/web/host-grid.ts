import { useSignal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { HostView } from '../views.ts'
import { table } from './parts.ts'

/** State of one component on one host: a short text, its tone, and the whole reason. */
interface Cell {
  readonly text: string
  readonly tone: 'ok' | 'warn' | 'bad' | ''
  readonly reason: string | undefined
}

/** Columns besides the services of hosts. */
const fixed = ['ssh', 'node'] as const

/** Hosts in the grid. A browser needs too long for the components of a thousand hosts at once. */
const maxRows = 100

interface GridRow {
  readonly host: HostView
  readonly cells: readonly Cell[]
  readonly problems: readonly Cell[]
}

/** Hosts × components. Hosts with problems come first, and keep the order of cluster.yml otherwise. */
export function HostGrid({ hosts }: { readonly hosts: readonly HostView[] }): ComponentChild {
  const isWhole = useSignal(false)
  const services = [...new Set(hosts.flatMap((host) => host.services.map(({ name }) => name)))]
  const rows = hosts.map((host): GridRow => {
    const cells = [...fixed, ...services].map((column) => findCell(host, column))
    return { host, cells, problems: cells.filter(({ tone }) => tone === 'bad' || tone === 'warn') }
  })
  const sorted = rows.toSorted((a, b) => b.problems.length - a.problems.length)
  const shown = isWhole.value ? sorted : sorted.slice(0, maxRows)
  const heads = ['Host', 'Problem', ...fixed, ...services.map(shorten)]
  return h(
    'div',
    null,
    table('components of all hosts', heads, shown.map(renderRow), 'grid'),
    shown.length === sorted.length
      ? null
      : h(
          'div',
          null,
          h(
            'p',
            null,
            `${sorted.length - shown.length} more hosts `,
            h(
              'button',
              { type: 'button', onClick: () => (isWhole.value = true) },
              'Show the components of all hosts',
            ),
          ),
          h('ul', { class: 'hosts' }, sorted.slice(shown.length).map(renderShort)),
        ),
  )
}

function renderRow({ host, cells, problems }: GridRow): ComponentChild {
  return h(
    'tr',
    { key: host.host },
    h('th', { scope: 'row' }, host.host),
    h('td', { class: 'problem' }, [...new Set(problems.flatMap(({ reason }) => reason ?? []))].join('; ')),
    cells.map(({ text, tone }) => h('td', { class: tone }, text)),
  )
}

function renderShort({ host, problems }: GridRow): ComponentChild {
  const text = problems.length === 0 ? 'ok' : 'not ok'
  return h('li', { key: host.host, class: problems.length === 0 ? 'ok' : 'bad' }, `${host.host} ${text}`)
}

function shorten(service: string): string {
  return service === 'hyperkube-agent' ? 'agent' : service.replace(/^kube-/, '')
}

function findCell(host: HostView, column: string): Cell {
  if (column === 'ssh') {
    return host.unreachable === undefined
      ? { text: 'ok', tone: 'ok', reason: undefined }
      : { text: 'lost', tone: 'bad', reason: host.unreachable }
  }
  if (column === 'node') return host.node === undefined ? empty : findHealthCell(host.node, 'node')
  return findServiceCell(host, column)
}

const empty: Cell = { text: '', tone: '', reason: undefined }

function findHealthCell(
  {
    healthy,
    unknown = false,
    reason = '',
  }: { healthy: boolean; unknown?: boolean | undefined; reason?: string | undefined },
  name: string,
): Cell {
  if (healthy) return { text: 'ok', tone: 'ok', reason: undefined }
  return { text: unknown ? '?' : 'bad', tone: unknown ? 'warn' : 'bad', reason: `${name}: ${reason}` }
}

function findServiceCell(host: HostView, name: string): Cell {
  const service = host.services.find((one) => one.name === name)
  if (service === undefined) return empty
  const health = host.unhealthy?.find(({ component }) => component === name)
  if (service.state !== 'active') {
    return { text: service.state, tone: 'bad', reason: `${name}: ${service.state}` }
  }
  if (name === 'hyperkube-agent' && host.agentError !== undefined) {
    return { text: 'bad', tone: 'bad', reason: `agent: ${host.agentError}` }
  }
  const own = name === 'etcd' ? host.etcd : name === 'kube-apiserver' ? host.api : undefined
  if (own !== undefined && !own.healthy) return findHealthCell(own, name)
  if (health === undefined) return { text: 'ok', tone: 'ok', reason: undefined }
  const { state, because = state } = health
  return { text: state, tone: state === 'healing' ? 'warn' : 'bad', reason: `${name}: ${because}` }
}
