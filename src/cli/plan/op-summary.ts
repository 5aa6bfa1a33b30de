import type { Op, OpTarget } from '../../contract/op.ts'
import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'
import { count, listed } from '../format-text.ts'

/** What a person calls the targets of ops, in the order of their interest. */
export const nouns: Readonly<Record<OpTarget, string>> = {
  artifact: 'program',
  image: 'image',
  file: 'file',
  'derived-file': 'derived file',
  certificate: 'certificate',
  directory: 'directory',
  user: 'user',
  module: 'kernel module',
  sysctl: 'kernel setting',
  'firewall-rule': 'firewall rule',
  service: 'service',
}

/** What would happen on a host, in a few lines: how many of each, and by name the services that it touches. */
export function summary(ops: readonly Op[], paint: Paint): string {
  if (ops.length === 0) return `  ${paint('dim', 'nothing to do')}\n`
  const things = ops.filter(({ target }) => target !== 'service')
  return [
    counted(things, 'create', paint('green', '+')),
    counted(things, 'change', paint('yellow', '~')),
    counted(things, 'remove', paint('red', '-')),
    services(ops, 'start', paint('green', 'starts')),
    services(ops, 'restart', paint('yellow', 'restarts')),
    services(ops, 'stop', paint('red', 'stops')),
  ].join('')
}

function counted(ops: readonly Op[], action: Op['action'], sign: string): string {
  const all = Map.groupBy(
    ops.filter((op) => op.action === action),
    ({ target }) => nouns[target],
  )
  const parts = [...new Set(Object.values(nouns))].flatMap((noun) => {
    const amount = all.get(noun)?.length ?? 0
    return amount === 0 ? [] : [count(amount, noun)]
  })
  return parts.length === 0 ? '' : `  ${sign} ${parts.join(', ')}\n`
}

/** All of them: what restarts is what a person wants to know. */
function services(ops: readonly Op[], action: Op['action'], verb: string): string {
  const names = ops.filter((op) => op.action === action).map(({ name }) => name.replace(/\.service$/, ''))
  return names.length === 0 ? '' : `  ${verb} ${names.join(', ')}\n`
}

/** The same op by op, under its component. */
export function opLines(ops: readonly Op[], paint: Paint): string {
  return [...Map.groupBy(ops, ({ component }) => component)]
    .map(
      ([component, own]) => `  ${paint('bold', component)}\n${own.map((op) => opLine(op, paint)).join('')}`,
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

function opLine({ action, target, name, because }: Op, paint: Paint): string {
  const verb = action === 'start' || action === 'restart' || action === 'stop' ? `${action} ` : ''
  const reason = because.length === 0 ? '' : paint('dim', printable(` because of ${listed(because)}`))
  return `    ${paint(colours[action], signs[action])} ${verb}${nouns[target]} ${printable(name)}${reason}\n`
}
