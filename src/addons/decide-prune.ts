import type { Finding } from '../contract/finding.ts'
import { truncateList } from '../kit/truncate-list.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import type { InventoryEntry, Inventory } from './inventory.ts'
import { isEntryObject } from './ownership.ts'
import {
  describeReference,
  parseGroup,
  formatReferenceKey,
  type ObjectReference,
  toReference,
} from './reference.ts'
import { isNamespace } from './waves.ts'

/** What to do with an object that an addon has applied and no longer desires. */
export type PruneDecision =
  | { readonly action: 'remove'; readonly entry: InventoryEntry; readonly object: KubeObject }
  /** The entry is dropped, and the object is not touched. */
  | {
      readonly action: 'forget'
      readonly entry: InventoryEntry
      readonly reason: 'gone' | 'moved' | 'found' | 'foreign'
    }
  /** The object and its entry stay until the object can be removed. `users` is text for people. */
  | { readonly action: 'hold'; readonly entry: InventoryEntry; readonly reason: 'moving' }
  | {
      readonly action: 'hold'
      readonly entry: InventoryEntry
      readonly reason: 'in use'
      readonly users: readonly string[]
    }

/** Input of buildUsageIndex. */
export interface UsageInput {
  readonly addon: string
  /** Entries that the addon keeps. */
  readonly desired: readonly InventoryEntry[]
  /** Inventories and manifests of the other addons. */
  readonly inventories: readonly Inventory[]
  readonly others: readonly Addon[]
}

/** An object in a namespace, or of a CRD's kind, that would be deleted with it. */
export interface ContainedObject {
  readonly uid: string | undefined
  /** Text for people. */
  readonly description: string
}

/** Which objects and namespaces are in use by other addons. Built once and used for many entries. */
export interface UsageIndex {
  readonly addon: string
  readonly uids: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
  /** For each namespace one object that is or will be in it. */
  readonly namespaces: ReadonlyMap<string, ObjectReference>
}

export function buildUsageIndex({ addon, desired, inventories, others }: UsageInput): UsageIndex {
  const recorded = inventories
    .filter((inventory) => inventory.addon !== addon)
    .flatMap(({ entries }) => entries)
  const desiredByOthers = others.flatMap(({ manifests }) => manifests.map(toReference))
  const all: readonly ObjectReference[] = [...desired, ...recorded, ...desiredByOthers]
  return {
    addon,
    uids: new Set([...desired, ...recorded].flatMap(({ uid }) => uid ?? [])),
    keys: new Set([...recorded, ...desiredByOthers].map(formatReferenceKey)),
    namespaces: new Map(all.map((reference) => [reference.namespace ?? '', reference])),
  }
}

/**
 * Removes only objects that the addon created itself. `contents` would be deleted with the object; contents
 * that are removed anyway (`removing`, by uid) do not block it.
 */
export function decidePrune(
  entry: InventoryEntry,
  object: KubeObject | undefined,
  contents: readonly ContainedObject[],
  removing: ReadonlySet<string>,
  usage: UsageIndex,
): PruneDecision {
  if (object === undefined) return { action: 'forget', entry, reason: 'gone' }
  if (!isEntryObject(entry, object, usage.addon)) return { action: 'forget', entry, reason: 'foreign' }
  // Another inventory has it, or it is the same object under another API group.
  if (usage.uids.has(object.metadata.uid ?? '')) return { action: 'forget', entry, reason: 'moved' }
  if (entry.preexisting === true) return { action: 'forget', entry, reason: 'found' }
  // The object is identified now, so the entry gets its uid.
  const identified: InventoryEntry = { ...entry, uid: object.metadata.uid }
  // The addon that desires it has not recorded it yet. Until then this inventory must keep the entry.
  if (usage.keys.has(formatReferenceKey(entry)))
    return { action: 'hold', entry: identified, reason: 'moving' }
  const users = [
    ...findUsers(entry, usage),
    ...contents.filter(({ uid = '' }) => !removing.has(uid)).map(({ description: subject }) => subject),
  ]
  return users.length === 0
    ? { action: 'remove', entry, object }
    : { action: 'hold', entry: identified, reason: 'in use', users }
}

/** Finds an addon object in the namespace, of any kind, existing or only desired. */
function findUsers(entry: InventoryEntry, { namespaces }: UsageIndex): string[] {
  const user = isNamespace(entry) ? namespaces.get(entry.name) : undefined
  return user === undefined ? [] : [describeReference(user)]
}

const maxNamed = 3

/** Findings for objects that stay unexpectedly. Removed, missing and moved objects need none. */
export function buildPruneFindings(decision: PruneDecision, addon: string): Finding[] {
  const { entry } = decision
  const subject = `addon ${addon}: ${describeReference(entry)}`
  if (decision.action === 'forget' && (decision.reason === 'found' || decision.reason === 'foreign')) {
    const reason = decision.reason === 'found' ? 'was there before the addon' : 'was not created by the addon'
    return [
      {
        code: 'ADDON_OBJECT_LEFT',
        severity: 'warning',
        message: `${subject} is no longer part of it and stays, because it ${reason}`,
        hint: `if it is not needed: kubectl delete ${formatDeleteArguments(entry)}`,
      },
    ]
  }
  if (decision.action !== 'hold' || decision.reason !== 'in use') return []
  const users = truncateList(decision.users, maxNamed)
  const common = {
    severity: 'warning',
    message: `${subject} stays, because it would take others with it: ${users}`,
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

/** Includes the API group, because two groups may have kinds of the same name. */
function formatDeleteArguments({ apiVersion, kind, namespace, name }: ObjectReference): string {
  const group = parseGroup(apiVersion)
  const where = namespace === undefined ? '' : ` -n ${namespace}`
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`} ${name}${where}`
}
