import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { ResourceDrift } from '../../contract/health.ts'
import type { LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op, OpTarget } from '../../contract/op.ts'
import { listResources } from '../../diff/plan-resources.ts'
import { type PlanResource, resourceKey } from '../../diff/resource.ts'
import { readLedgerFor } from '../apply/diff-host.ts'
import { type InspectedResource, inspectLedger } from '../resources/inspect.ts'
import type { ResourceObservation } from '../resources/resource-handler.ts'
import type { FileFacts, HostFiles } from '../host/files.ts'
import type { Host } from '../host/host.ts'

/**
 * Milliseconds after which a changed source file counts as stable. By then, probes have checked the component
 * that writes the source file.
 */
const settleMs = 120_000

/**
 * True if a derived file is unchanged and its source file changed only recently. The source file may be
 * corrupted and soon be repaired, so the derived file is not regenerated yet.
 */
async function isSourceSettling({ files, clock }: Host, thing: LedgerResource): Promise<boolean> {
  if (thing.target !== 'derived-file') return false
  const source = await files.stat(thing.from)
  if (source === undefined || (await files.stat(thing.name))?.kind !== 'file') return false
  if ((await files.digest(thing.name)) !== thing.sha256) return false
  const changed = Number(BigInt(source.changed) / 1_000_000n)
  return clock.now().getTime() - changed < settleMs
}

/** Resources that differ from the applied plan (key: component name). */
export interface DetectedDrift {
  /**
   * Ops that repair drift with data that is on the host or can be downloaded. They do not interrupt running
   * services.
   */
  readonly repairable: ReadonlyMap<string, readonly Op[]>
  /** Drift that only an operator can repair. */
  readonly unrepairable: ReadonlyMap<string, readonly ResourceDrift[]>
  /** Components whose services an operator stopped with hyperkube. Only a new plan starts them again. */
  readonly stopped: ReadonlySet<string>
}

/**
 * Targets that are checked for drift. Images are left out, because the container runtime restores them.
 * Certificates are checked but not repaired here.
 */
const checkedTargets: ReadonlySet<OpTarget> = new Set([
  'user',
  'module',
  'sysctl',
  'directory',
  'artifact',
  'file',
  'certificate',
  'derived-file',
  'service',
])

/**
 * Compares the host with the applied plan and changes nothing. Resources of an interrupted run are skipped,
 * because an operator resumes that run.
 */
export async function detectDrift(host: Host, plan: NodePlan): Promise<DetectedDrift> {
  const ledger = await readLedgerFor(host, plan)
  const things = ledger.resources.filter(({ target }) => checkedTargets.has(target))
  const found = await inspectLedger({ host, ledger: { ...ledger, resources: things }, plan })
  const itemsByKey = new Map(
    listResources(plan)
      .toReversed()
      .map((item) => [resourceKey(item), item]),
  )
  const [ops, drifts]: [Op[], (ResourceDrift & { component: string })[]] = [[], []]
  for (const one of found) {
    const item = itemsByKey.get(resourceKey(one.resource))
    if (item?.digest !== one.resource.digest || item.target !== one.resource.target) continue
    const difference = describeDrift(one)
    if (difference === undefined || (await isSourceSettling(host, one.resource))) continue
    const { component, target, name } = item
    if (isRepairable(plan, item)) ops.push(buildOp(item, one.state, difference))
    else drifts.push({ component, target, name, difference })
  }
  return {
    repairable: Map.groupBy(sortByCreation(ops, [...itemsByKey.values()]), ({ component }) => component),
    unrepairable: new Map(
      [...Map.groupBy(drifts, ({ component }) => component)].map(([component, all]) => [
        component,
        all.map(({ target, name, difference }) => ({ target, name, difference })),
      ]),
    ),
    stopped: new Set(
      things.flatMap((thing) =>
        thing.target === 'service' && !thing.started ? thing.owners.map(({ component }) => component) : [],
      ),
    ),
  }
}

/** Describes the drift of a resource. A certificate that is due for renewal has not drifted. */
function describeDrift({ resource, state, unit }: InspectedResource): string | undefined {
  if (state === 'absent') return 'missing'
  if (state !== 'as-written') return state.due === true ? undefined : state.drift
  const isDisabled = resource.target === 'service' && resource.started && unit?.enabled === false
  return isDisabled ? 'not enabled at boot' : undefined
}

function isRepairable({ components }: NodePlan, { component, target, name }: PlanResource): boolean {
  if (target === 'certificate') return false
  if (target !== 'file') return true
  // A file with `once` matters only at bootstrap. Healing does not restore it, because an operator may have
  // deleted it so that the next apply writes a new one.
  const isRepairableText = ({ path, content, once }: ComponentPlan['files'][number]): boolean =>
    path === name && content.kind === 'text' && once === undefined
  return components.some((one) => one.name === component && one.files.some(isRepairableText))
}

function buildOp(
  { component, stage, target, name }: PlanResource,
  state: ResourceObservation,
  difference: string,
): Op {
  return {
    component,
    stage,
    action: state === 'absent' ? 'create' : 'change',
    target,
    name,
    because: [difference],
  }
}

/** Sorts ops in creation order, for example a directory before its contents. */
function sortByCreation(ops: readonly Op[], all: readonly PlanResource[]): Op[] {
  const order = new Map(all.toReversed().map((item, index) => [resourceKey(item), index]))
  return ops.toSorted((a, b) => (order.get(resourceKey(a)) ?? 0) - (order.get(resourceKey(b)) ?? 0))
}

interface CachedDigest {
  readonly facts: FileFacts
  readonly digest: string
}

/**
 * Returns the host with cached file digests, for callers that check often. A file is read again only if its
 * metadata has changed.
 */
export function withKnownDigests(host: Host): Host {
  return { ...host, files: knownDigests(host.files) }
}

function knownDigests(files: HostFiles): HostFiles {
  const cache = new Map<string, CachedDigest>()
  return {
    ...files,
    async digest(path) {
      const facts = await files.stat(path)
      const before = cache.get(path)
      if (facts !== undefined && before !== undefined && isSame(facts, before.facts)) return before.digest
      cache.delete(path)
      const digest = await files.digest(path)
      // The metadata was read before the content, so the next call notices a write during the read.
      if (facts !== undefined) cache.set(path, { facts, digest })
      return digest
    },
  }
}

function isSame(a: FileFacts, b: FileFacts): boolean {
  return a.inode === b.inode && a.size === b.size && a.modified === b.modified && a.changed === b.changed
}
