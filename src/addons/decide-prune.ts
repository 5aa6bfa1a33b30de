import type { Finding } from '../contract/finding.ts'
import { firstFew } from '../kit/truncate-list.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import type { Entry, Inventory } from './inventory.ts'
import { isRecorded } from './ownership.ts'
import { describeReference, groupOf, keyOf, type Reference, referenceOf } from './reference.ts'
import { isNamespace } from './waves.ts'

/** What becomes of an object that an addon has put there and no longer wishes. */
export type Verdict =
  | { readonly act: 'remove'; readonly entry: Entry; readonly object: KubeObject }
  /** It leaves the inventory, and is not touched. */
  | { readonly act: 'forget'; readonly entry: Entry; readonly why: 'gone' | 'moved' | 'found' | 'foreign' }
  /** It stays, and in the inventory too, until it can go. `by` is for people. */
  | { readonly act: 'hold'; readonly entry: Entry; readonly why: 'moving' }
  | { readonly act: 'hold'; readonly entry: Entry; readonly why: 'in use'; readonly by: readonly string[] }

/** What is known when it is decided. */
export interface Circumstances {
  readonly addon: string
  /** What the addon goes on having. */
  readonly kept: readonly Entry[]
  /** Of the other addons: what they have, and what they wish. */
  readonly inventories: readonly Inventory[]
  readonly others: readonly Addon[]
}

/** One object in a namespace, or of a kind, that would go with it. */
export interface Inside {
  readonly uid: string | undefined
  /** For people. */
  readonly what: string
}

/** What is in use, and by whom: asked for many entries, worked out once. */
export interface Elsewhere {
  readonly addon: string
  readonly uids: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
  /** By namespace one of those that are in it, or shall be. */
  readonly namespaces: ReadonlyMap<string, Reference>
}

export function elsewhereOf({ addon, kept, inventories, others }: Circumstances): Elsewhere {
  const had = inventories.filter((inventory) => inventory.addon !== addon).flatMap(({ entries }) => entries)
  const wished = others.flatMap(({ manifests }) => manifests.map(referenceOf))
  const all: readonly Reference[] = [...kept, ...had, ...wished]
  return {
    addon,
    uids: new Set([...kept, ...had].flatMap(({ uid }) => uid ?? [])),
    keys: new Set([...had, ...wished].map(keyOf)),
    namespaces: new Map(all.map((reference) => [reference.namespace ?? '', reference])),
  }
}

/**
 * Only what was made by the addon is removed, and only that very object. `inside` is what would go with it; what goes
 * anyway (`going`, by uid) keeps nothing.
 */
export function verdictOn(
  entry: Entry,
  object: KubeObject | undefined,
  inside: readonly Inside[],
  going: ReadonlySet<string>,
  elsewhere: Elsewhere,
): Verdict {
  if (object === undefined) return { act: 'forget', entry, why: 'gone' }
  if (!isRecorded(entry, object, elsewhere.addon)) return { act: 'forget', entry, why: 'foreign' }
  // Another inventory has it, or it is the same object under another name of its group.
  if (elsewhere.uids.has(object.metadata.uid ?? '')) return { act: 'forget', entry, why: 'moved' }
  if (entry.found === true) return { act: 'forget', entry, why: 'found' }
  // Now that it is known which object it is.
  const known: Entry = { ...entry, uid: object.metadata.uid }
  // Who wishes it has not entered it yet: until then somebody must remember it.
  if (elsewhere.keys.has(keyOf(entry))) return { act: 'hold', entry: known, why: 'moving' }
  const by = [
    ...usersOf(entry, elsewhere),
    ...inside.filter(({ uid = '' }) => !going.has(uid)).map(({ what }) => what),
  ]
  return by.length === 0 ? { act: 'remove', entry, object } : { act: 'hold', entry: known, why: 'in use', by }
}

/** What addons have in a namespace, of whatever kind, and whether it is there already or not. */
function usersOf(entry: Entry, { namespaces }: Elsewhere): string[] {
  const user = isNamespace(entry) ? namespaces.get(entry.name) : undefined
  return user === undefined ? [] : [describeReference(user)]
}

const mostNamed = 3

/** What a person should know of it: what goes, goes in silence, and so does what was gone or has moved. */
export function findingOf(verdict: Verdict, addon: string): Finding[] {
  const { entry } = verdict
  const what = `addon ${addon}: ${describeReference(entry)}`
  if (verdict.act === 'forget' && (verdict.why === 'found' || verdict.why === 'foreign')) {
    const why = verdict.why === 'found' ? 'was there before the addon' : 'was made by somebody else'
    return [
      {
        code: 'ADDON_OBJECT_LEFT',
        severity: 'warning',
        message: `${what} is no longer part of it and stays, because it ${why}`,
        hint: `if nobody needs it: kubectl delete ${commandOf(entry)}`,
      },
    ]
  }
  if (verdict.act !== 'hold' || verdict.why !== 'in use') return []
  const by = firstFew(verdict.by, mostNamed)
  const common = {
    severity: 'warning',
    message: `${what} stays, because it would take others with it: ${by}`,
  } as const
  return isNamespace(entry)
    ? [
        {
          code: 'ADDON_NAMESPACE_IN_USE',
          ...common,
          hint: `kubectl get all,configmaps,secrets,pvc -n ${entry.name}`,
        },
      ]
    : [{ code: 'ADDON_DEFINITION_IN_USE', ...common, hint: `kubectl get ${entry.name} -A` }]
}

/** With the group, as two groups may have kinds of one name. */
function commandOf({ apiVersion, kind, namespace, name }: Reference): string {
  const group = groupOf(apiVersion)
  const where = namespace === undefined ? '' : ` -n ${namespace}`
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`} ${name}${where}`
}
