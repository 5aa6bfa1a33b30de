import type { Finding } from '../contract/finding.ts'
import { truncateList } from '../kit/text.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import { type Inventory, type InventoryEntry, isEntryObject } from './inventory.ts'
import {
  describeReference,
  formatReferenceKey,
  type ObjectReference,
  parseGroup,
  toReference,
} from './reference.ts'
import { isCrd, isNamespace } from './waves.ts'

/** Decision about an object that an addon has applied and no longer desires. */
export type PruneDecision =
  | { readonly action: 'remove'; readonly entry: InventoryEntry; readonly object: KubeObject }
  /** The inventory entry is dropped and the object is left unchanged. */
  | {
      readonly action: 'forget'
      readonly entry: InventoryEntry
      readonly reason: 'gone' | 'moved' | 'found' | 'foreign' | 'policy'
    }
  /**
   * The object and its entry stay until the object can be removed. `users` describes the objects that still
   * need it.
   */
  | { readonly action: 'hold'; readonly entry: InventoryEntry; readonly reason: 'moving' }
  | {
      readonly action: 'hold'
      readonly entry: InventoryEntry
      readonly reason: 'in use'
      readonly users: readonly string[]
    }

export interface UsageInput {
  readonly addon: string
  /** Entries of objects that the addon still desires. */
  readonly desired: readonly InventoryEntry[]
  /** Inventories of all addons. `others` are the other desired addons. */
  readonly inventories: readonly Inventory[]
  readonly others: readonly Addon[]
}

/** An object that would be deleted together with its namespace or its CRD. */
export interface ContainedObject {
  readonly uid: string | undefined
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string | undefined
  /** Description of the object for messages. */
  readonly description: string
}

/** Objects and namespaces that are still in use. The index is built once and used for many entries. */
export interface UsageIndex {
  readonly addon: string
  readonly uids: ReadonlySet<string>
  readonly keys: ReadonlySet<string>
  /** For each namespace, one object that is or will be in it. It serves as an example in messages. */
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
 * Decides whether to remove the object of an inventory entry. Only objects that the addon created are
 * removed. `contents` are the objects that would be deleted with it; if any of them is not in `removing`, the
 * object is kept.
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
  // Another inventory records the object, or this addon desires it under another API group. Only this entry
  // is dropped.
  if (usage.uids.has(object.metadata.uid ?? '')) return { action: 'forget', entry, reason: 'moved' }
  if (entry.preexisting === true) return { action: 'forget', entry, reason: 'found' }
  if (hasKeepPolicy(object)) return { action: 'forget', entry, reason: 'policy' }
  // The checks above prove that the entry records this object, so the entry gets the uid of the object.
  const identified: InventoryEntry = { ...entry, uid: object.metadata.uid }
  // Another addon desires the object but has not recorded its uid yet. Until then this inventory keeps the
  // entry.
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

/**
 * If the entry is a namespace, describes one object that is or will be in the namespace. Otherwise returns an
 * empty list.
 */
function findUsers(entry: InventoryEntry, { namespaces }: UsageIndex): string[] {
  const user = isNamespace(entry) ? namespaces.get(entry.name) : undefined
  return user === undefined ? [] : [describeReference(user)]
}

/**
 * True if the author of a chart wants the object to outlive the release, for example a volume claim. Helm
 * ignores case and spaces too.
 */
function hasKeepPolicy({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep'
}

const leftReasons: Readonly<Record<string, string>> = {
  found: 'existed before the addon',
  foreign: 'was not created by the addon',
  policy: 'has the annotation helm.sh/resource-policy: keep',
}

const maxNamed = 3

/** Builds findings for objects that stay although the addon no longer desires them. */
export function buildPruneFindings(decision: PruneDecision, addon: string): Finding[] {
  const { entry } = decision
  const subject = `addon ${addon}: ${describeReference(entry)}`
  const reason = decision.action === 'forget' ? leftReasons[decision.reason] : undefined
  if (reason !== undefined) {
    return [
      {
        code: 'ADDON_OBJECT_LEFT',
        severity: 'warning',
        message: `${subject} is no longer part of the addon, but is not deleted, because it ${reason}`,
        hint: `if it is not needed: kubectl delete ${formatDeleteArguments(entry)}${describeLoss(entry)}`,
      },
    ]
  }
  if (decision.action !== 'hold' || decision.reason !== 'in use') return []
  const users = truncateList(decision.users, maxNamed)
  const common = {
    severity: 'warning',
    message: `${subject} is not deleted, because that would also delete ${users}`,
  } as const
  return isNamespace(entry)
    ? [
        {
          code: 'ADDON_NAMESPACE_IN_USE',
          ...common,
          hint: `kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get --ignore-not-found --show-kind -n ${entry.name}`,
        },
      ]
    : [{ code: 'ADDON_DEFINITION_IN_USE', ...common, hint: `kubectl get ${entry.name} -A` }]
}

/** Describes what else is lost when the object is deleted. */
function describeLoss(entry: ObjectReference): string {
  if (isCrd(entry) || isNamespace(entry)) return ', which also deletes all its objects'
  return entry.kind === 'PersistentVolumeClaim' ? ', which may also delete its data' : ''
}

/**
 * Formats kubectl arguments for an object. The API group is included, because two groups may have kinds of
 * the same name.
 */
function formatDeleteArguments({ apiVersion, kind, namespace, name }: ObjectReference): string {
  const group = parseGroup(apiVersion)
  const where = namespace === undefined ? '' : ` -n ${namespace}`
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`} ${name}${where}`
}
