import {
  type AddonDifference,
  isEntirelyNew,
  type UnwishedObject,
  type WishedObject,
} from '../../addons/addon-difference.ts'
import { describeReference } from '../../addons/reference.ts'
import { printable } from '../../kit/printable.ts'
import type { AddonProposal } from '../../lifecycle/addons/proposal.ts'
import type { Paint } from '../command.ts'
import { count } from '../format-text.ts'

export interface AddonsTextOptions {
  /** Every object. */
  readonly wide: boolean
  /** What changes inside them. */
  readonly diff: boolean
}

/** What changes of addons: how many objects of each, or each of them by name. */
export function addonsText(
  { differences }: Pick<AddonProposal, 'differences'>,
  options: AddonsTextOptions,
  paint: Paint,
): string {
  if (differences.length === 0) return ''
  return `\n${paint('bold', 'addons')}\n${differences.map((one) => addonText(one, options, paint)).join('')}`
}

function addonText(difference: AddonDifference, { wide, diff }: AddonsTextOptions, paint: Paint): string {
  const { addon, objects, unwished, unfinished } = difference
  const heading = `  ${signOf(difference, paint)} ${addon}: ${inShort(difference)}\n`
  const lines = [
    ...objects.filter(({ change }) => change !== 'none').map((object) => objectText(object, diff, paint)),
    ...unwished.map((object) => unwishedText(object, paint)),
  ]
  // What changes is worth a line each; what is new altogether is not.
  const isNew = isEntirelyNew(difference)
  const rest = unfinished === true ? `      ${paint('dim', 'to be waited for: a run was cut')}\n` : ''
  return `${heading}${wide || diff || !isNew ? lines.join('') : ''}${rest}`
}

function signOf({ objects, unwished }: AddonDifference, paint: Paint): string {
  if (objects.length === 0 && unwished.length > 0) return paint('red', '-')
  return objects.every(({ change }) => change === 'create') ? paint('green', '+') : paint('yellow', '~')
}

function inShort({ objects, unwished }: AddonDifference): string {
  const amount = (change: WishedObject['change']): number =>
    objects.filter((object) => object.change === change).length
  const gone = unwished.filter(({ act }) => act === 'remove').length
  const parts = [
    ...said(amount('create'), 'new'),
    ...said(amount('change') + amount('conflict') + amount('refused') + amount('unknown'), 'changed'),
    ...said(gone, 'removed'),
  ]
  return parts.length === 0 ? 'nothing to change' : parts.join(', ')
}

function said(amount: number, how: string): string[] {
  return amount === 0 ? [] : [`${count(amount, 'object')} ${how}`]
}

function objectText(object: WishedObject, diff: boolean, paint: Paint): string {
  const name = printable(describeReference(object))
  if (object.change === 'none') return ''
  if (object.change === 'create') return `      ${paint('green', '+')} ${name}\n`
  if (object.change === 'change') {
    return `      ${paint('yellow', '~')} ${name}\n${diff ? object.fields.map(fieldText).join('') : ''}`
  }
  return `      ${paint('red', '!')} ${name}: ${printable(obstacle(object))}\n`
}

function obstacle(object: Extract<WishedObject, { change: 'conflict' | 'refused' | 'unknown' }>): string {
  if (object.change !== 'conflict') return object.reason
  return `others have set ${object.conflicts.map(({ path }) => path).join(', ')}`
}

type Field = Extract<WishedObject, { change: 'change' }>['fields'][number]

function fieldText({ path, before, after, hidden }: Field): string {
  const change = hidden === true ? 'is a secret, and another one' : `${inWords(before)} → ${inWords(after)}`
  return printable(`          ${path}: ${change}\n`)
}

function inWords(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

const fates: Readonly<Record<UnwishedObject['act'], string>> = {
  remove: '',
  forget: ' stays, as it is not the addon’s any more',
  hold: ' stays until nobody needs it',
}

function unwishedText(object: UnwishedObject, paint: Paint): string {
  return `      ${paint('red', '-')} ${printable(describeReference(object))}${fates[object.act]}\n`
}
