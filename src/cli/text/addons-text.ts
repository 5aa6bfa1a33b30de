import {
  type AddonDifference,
  type DesiredObjectChange,
  isEntirelyNew,
  type PrunedObject,
} from '../../addons/addon-difference.ts'
import { describeReference } from '../../addons/reference.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import type { AddonProposal } from '../../lifecycle/addons/proposal.ts'
import type { Paint } from '../command/command.ts'

export interface AddonsTextOptions {
  /** True to list every object. */
  readonly wide: boolean
  /** True to show changed fields. */
  readonly diff: boolean
}

/** Formats the changes of addons: counts for each addon, or every object by name. */
export function formatAddonChanges(
  { differences }: Pick<AddonProposal, 'differences'>,
  options: AddonsTextOptions,
  paint: Paint,
): string {
  if (differences.length === 0) return ''
  return `\n${paint('bold', 'addons')}\n${differences.map((one) => formatAddon(one, options, paint)).join('')}`
}

function formatAddon(difference: AddonDifference, { wide, diff }: AddonsTextOptions, paint: Paint): string {
  const { addon, objects, toPrune, unfinished, outdatedRecord } = difference
  const heading = `  ${formatSign(difference, paint)} ${addon}: ${summarizeAddon(difference)}\n`
  const lines = [
    ...objects.filter(({ change }) => change !== 'none').map((object) => formatObject(object, diff, paint)),
    ...toPrune.map((object) => formatPruned(object, paint)),
  ]
  // A new addon gets only a heading, unless `wide` or `diff` is set.
  const isNew = isEntirelyNew(difference)
  const notes = [
    ...(unfinished === true ? ['an earlier run was interrupted before the addon was ready'] : []),
    ...(outdatedRecord === true ? ['only the record of the applied manifests changes'] : []),
  ]
  const rest = notes.map((note) => `      ${paint('dim', note)}\n`).join('')
  return `${heading}${wide || diff || !isNew ? lines.join('') : ''}${rest}`
}

function formatSign({ objects, toPrune }: AddonDifference, paint: Paint): string {
  if (objects.length === 0 && toPrune.length > 0) return paint('red', '-')
  return objects.every(({ change }) => change === 'create') ? paint('green', '+') : paint('yellow', '~')
}

function summarizeAddon({ objects, toPrune }: AddonDifference): string {
  const objectCount = (change: DesiredObjectChange['change']): number =>
    objects.filter((object) => object.change === change).length
  const removedCount = toPrune.filter(({ action }) => action === 'remove').length
  const parts = [
    ...formatObjectCount(objectCount('create'), 'new'),
    ...formatObjectCount(
      objectCount('change') + objectCount('conflict') + objectCount('refused') + objectCount('unknown'),
      'changed',
    ),
    ...formatObjectCount(removedCount, 'removed'),
  ]
  return parts.length === 0 ? 'nothing to change' : parts.join(', ')
}

function formatObjectCount(objectCount: number, suffix: string): string[] {
  return objectCount === 0 ? [] : [`${formatCount(objectCount, 'object')} ${suffix}`]
}

function formatObject(object: DesiredObjectChange, diff: boolean, paint: Paint): string {
  const name = toPrintable(describeReference(object))
  if (object.change === 'none') return ''
  if (object.change === 'create') return `      ${paint('green', '+')} ${name}\n`
  if (object.change === 'change') {
    return `      ${paint('yellow', '~')} ${name}\n${diff ? object.fields.map(formatField).join('') : ''}`
  }
  return `      ${paint('red', '!')} ${name}: ${toPrintable(explainBlocked(object))}\n`
}

function explainBlocked(
  object: Extract<DesiredObjectChange, { change: 'conflict' | 'refused' | 'unknown' }>,
): string {
  if (object.change !== 'conflict') return object.reason
  return `set by another field manager: ${object.conflicts.map(({ path }) => path).join(', ')}`
}

type Field = Extract<DesiredObjectChange, { change: 'change' }>['fields'][number]

function formatField({ path, before, after, hidden }: Field): string {
  const change =
    hidden === true ? 'the secret value changes' : `${formatValue(before)} → ${formatValue(after)}`
  return toPrintable(`          ${path}: ${change}\n`)
}

function formatValue(value: unknown): string {
  return value === undefined ? 'unset' : JSON.stringify(value)
}

const pruneSuffixes: Readonly<Record<PrunedObject['action'], string>> = {
  remove: '',
  forget: ' stays: the addon no longer owns it',
  hold: ' stays while other objects need it',
}

function formatPruned(object: PrunedObject, paint: Paint): string {
  return `      ${paint('red', '-')} ${toPrintable(describeReference(object))}${pruneSuffixes[object.action]}\n`
}
