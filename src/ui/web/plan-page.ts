import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { PlanView } from '../views.ts'
import { ApplyForm } from './apply-form.ts'
import { badge, command, notice, showView, table } from './parts.ts'
import type { ApplyPlan, ViewState } from './store.ts'

type Op = PlanView['hosts'][number]['ops'][number]

/** What restarts, then the order, then all changes of each host. */
export function PlanPage({
  view,
  file,
  apply,
}: {
  readonly view: Signal<ViewState<PlanView>>
  readonly file: string
  readonly apply: ApplyPlan
}): ComponentChild {
  return showView(view.value, 'comparing all hosts with cluster.yml', (plan) => [
    ...plan.findings.map(({ severity, code, host, message, hint }) =>
      notice(
        severity,
        code,
        h('p', null, host === undefined ? message : `${host}: ${message}`),
        hint === undefined ? null : command(hint),
      ),
    ),
    isEmpty(plan)
      ? h('p', null, badge('ok', 'nothing to do'), ' all hosts and addons have their desired state')
      : plan.digest === undefined
        ? h('p', null, 'To apply this plan: ', command(`hyperkube up -f ${file}`))
        : h(ApplyForm, {
            ...{ cluster: plan.cluster, digest: plan.digest, apply },
            isOutdated: view.value.isReading,
          }),
    renderHosts(plan),
    renderSteps(plan),
    renderObjects(plan),
    ...plan.hosts.map(renderHost),
  ])
}

function isEmpty({ hosts, removedHosts, objects, addons }: PlanView): boolean {
  return hosts.length + removedHosts.length + objects.length === 0 && addons === ''
}

function renderHosts({ hosts, removedHosts }: PlanView): ComponentChild {
  if (hosts.length + removedHosts.length === 0) return null
  const rows = hosts.map(({ host, roles, ops }) =>
    h(
      'tr',
      { key: host },
      h('th', { scope: 'row' }, host),
      h('td', null, roles.join(', ')),
      h('td', null, countOps(ops)),
      h('td', null, listServices(ops)),
    ),
  )
  const removed = removedHosts.map((host) =>
    h(
      'tr',
      { key: host },
      h('th', { scope: 'row' }, host),
      h(
        'td',
        { colSpan: 3, class: 'bad' },
        'removed from the cluster; everything that hyperkube installed on it is deleted',
      ),
    ),
  )
  const heads = ['Host', 'Roles', 'Changes', 'Services']
  return h('div', null, h('h2', null, 'Hosts'), table('changes by host', heads, [...rows, ...removed]))
}

function countOps(ops: readonly Op[]): string {
  const names = ['create', 'change', 'remove'] as const
  return names
    .flatMap((action) => {
      const count = ops.filter((op) => op.action === action && op.target !== 'service').length
      return count === 0 ? [] : [`${count} ${action}`]
    })
    .join(', ')
}

/** Lists restarts first, because they matter most to an operator. */
function listServices(ops: readonly Op[]): ComponentChild[] {
  const verbs = [
    ['restart', 'warn'],
    ['stop', 'bad'],
    ['start', 'ok'],
  ] as const
  return verbs.flatMap(([action, tone]) =>
    ops
      .filter((op) => op.action === action)
      .map(({ name }) => badge(tone, `${action} ${name.replace(/\.service$/, '')}`)),
  )
}

function renderSteps({ steps }: PlanView): ComponentChild {
  if (steps.length === 0) return null
  const items = steps.map(({ title, gates }, index) =>
    h(
      'li',
      { key: index },
      title,
      gates.length === 0
        ? null
        : h(
            'ul',
            { class: 'dim' },
            gates.map((gate) => h('li', { key: gate }, `until ${gate}`)),
          ),
    ),
  )
  return h('div', null, h('h2', null, 'Order'), h('ol', null, items))
}

function renderObjects({ objects, addons }: PlanView): ComponentChild {
  if (objects.length === 0 && addons === '') return null
  return h(
    'div',
    null,
    h('h2', null, 'Kubernetes objects'),
    objects.length === 0
      ? null
      : h(
          'ul',
          null,
          objects.map((text) => h('li', { key: text }, text)),
        ),
    addons === '' ? null : renderDiff('Addons', addons),
  )
}

function renderHost({ host, ops, diff }: PlanView['hosts'][number]): ComponentChild {
  const rows = ops.map(({ component, action, target, name, because }, index) =>
    h(
      'tr',
      { key: index, class: action === 'restart' || action === 'stop' ? 'disruptive' : '' },
      h('td', null, component),
      h('td', null, action),
      h('td', null, target),
      h('td', { class: 'problem' }, h('code', null, name)),
      h('td', { class: 'problem dim' }, because.join(', ')),
    ),
  )
  const heads = ['Component', 'Action', 'Kind', 'Name', 'Because of']
  return h(
    'details',
    { key: host },
    h(
      'summary',
      null,
      h('strong', null, host),
      ops.length === 1 ? ': 1 operation' : `: ${ops.length} operations`,
    ),
    table(`changes on ${host}`, heads, rows),
    diff === '' ? null : renderDiff('Changes inside files', diff),
  )
}

function renderDiff(title: string, text: string): ComponentChild {
  const lines = text.split('\n').map((line, index) => {
    const sign = line.trimStart()[0]
    const tone = sign === '+' ? 'added' : sign === '-' ? 'removed' : ''
    return h('span', { key: index, class: tone }, `${line}\n`)
  })
  return h(
    'details',
    null,
    h('summary', null, title),
    h('pre', { tabIndex: 0, role: 'region', 'aria-label': title }, lines),
  )
}
