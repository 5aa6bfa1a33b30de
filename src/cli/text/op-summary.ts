import type { Op, OpTarget } from '../../contract/op.ts'
import { formatCount, joinNames, toPrintable } from '../../kit/text.ts'
import type { Paint } from '../command/command.ts'

/** Names of op targets for people, most important first. */
export const targetNouns: Readonly<Record<OpTarget, string>> = {
  artifact: 'binary',
  image: 'image',
  file: 'file',
  'derived-file': 'derived file',
  certificate: 'certificate',
  directory: 'directory',
  user: 'user',
  module: 'kernel module',
  sysctl: 'kernel setting',
  'firewall-rule': 'firewall rule',
  predecessor: 'predecessor',
  service: 'service',
}

/** Summarizes the ops of a host: the number of changes per target, and the names of affected services. */
export function formatOpSummary(ops: readonly Op[], paint: Paint): string {
  if (ops.length === 0) return `  ${paint('dim', 'nothing to do')}\n`
  const resourceOps = ops.filter(({ target }) => target !== 'service')
  return [
    formatCounts(resourceOps, 'create', paint('green', '+')),
    formatCounts(resourceOps, 'change', paint('yellow', '~')),
    formatCounts(resourceOps, 'remove', paint('red', '-')),
    formatServices(ops, 'start', paint('green', 'starts')),
    formatServices(ops, 'restart', paint('yellow', 'restarts')),
    formatServices(ops, 'stop', paint('red', 'stops')),
  ].join('')
}

function formatCounts(ops: readonly Op[], action: Op['action'], sign: string): string {
  const all = Map.groupBy(
    ops.filter((op) => op.action === action),
    ({ target }) => targetNouns[target],
  )
  const parts = [...new Set(Object.values(targetNouns))].flatMap((noun) => {
    const amount = all.get(noun)?.length ?? 0
    return amount === 0 ? [] : [formatCount(amount, noun)]
  })
  return parts.length === 0 ? '' : `  ${sign} ${parts.join(', ')}\n`
}

/** Lists all affected services by name, because restarts matter most to an operator. */
function formatServices(ops: readonly Op[], action: Op['action'], verb: string): string {
  const names = ops.filter((op) => op.action === action).map(({ name }) => name.replace(/\.service$/, ''))
  return names.length === 0 ? '' : `  ${verb} ${names.join(', ')}\n`
}

/** Formats every op, grouped by component. */
export function formatOps(ops: readonly Op[], paint: Paint): string {
  return [...Map.groupBy(ops, ({ component }) => component)]
    .map(
      ([component, componentOps]) =>
        `  ${paint('bold', component)}\n${componentOps.map((op) => formatOp(op, paint)).join('')}`,
    )
    .join('')
}

const signs = { create: '+', change: '~', remove: '-', start: '▸', restart: '↻', stop: '■' } as const
const colours = {
  create: 'green',
  change: 'yellow',
  remove: 'red',
  start: 'green',
  restart: 'yellow',
  stop: 'red',
} as const

function formatOp({ action, target, name, because }: Op, paint: Paint): string {
  const verb = action === 'start' || action === 'restart' || action === 'stop' ? `${action} ` : ''
  const reason = because.length === 0 ? '' : paint('dim', toPrintable(` because of ${joinNames(because)}`))
  return `    ${paint(colours[action], signs[action])} ${verb}${targetNouns[target]} ${toPrintable(name)}${reason}\n`
}
