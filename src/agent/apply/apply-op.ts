import type { Stage } from '../../contract/component-plan.ts'
import type { LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { type PlanResource, resourceKey } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import { isAtOrBelow } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { handlersFor } from '../resources/handlers-by-os.ts'
import {
  findResource,
  listRestartedComponents,
  resolveOwners,
  withoutResource,
  withPendingChange,
  withResource,
  withStopped,
} from '../records/ledger.ts'
import type { MakeContext, ResourceHeader } from '../resources/resource-handler.ts'
import type { OpOutcome, Run } from '../records/run-op.ts'
import { stopService } from './start-service.ts'

/** A run that applies a plan to its host. */
export interface PlanRun<H extends Host = Host> extends Run<H> {
  readonly plan: NodePlan
  /** All resources of the plan. */
  readonly items: readonly PlanResource[]
  readonly through: Stage
  readonly secrets: ReadonlyMap<string, Secret>
  readonly certificates: ReadonlyMap<string, string>
  /** States of new services before the first op, keyed by name. */
  readonly newUnits?: MakeContext['newUnits']
}

/** Executes one op. Start ops are not handled here, because the services of a stage are started together. */
export async function applyOp(run: PlanRun, op: Op): Promise<OpOutcome> {
  if (op.action === 'stop') return stopServiceOp(run, op)
  const { ledgerStore } = run
  // The pending change is saved before the change itself. After an interruption, the next run then knows
  // which services must restart.
  await ledgerStore.save(
    withPendingChange(
      ledgerStore.ledger,
      listRestartedComponents(ledgerStore.ledger, run.items, op),
      op.name,
    ),
  )
  return op.action === 'remove' ? removeResource(run, op) : makeResource(run, op)
}

async function stopServiceOp(
  { host, ledgerStore, emit, signal }: PlanRun,
  { name, component }: Op,
): Promise<OpOutcome> {
  const stopped = await stopService(host, name, component, emit, signal)
  await ledgerStore.save(withStopped(ledgerStore.ledger, name))
  return stopped ? 'done' : 'unchanged'
}

async function makeResource(run: PlanRun, op: Op): Promise<OpOutcome> {
  const { host, plan, ledgerStore, secrets, certificates, newUnits, emit, signal } = run
  const component = plan.components.find(({ name }) => name === op.component)
  if (component === undefined) throw new Error(`the plan has no component ${op.component}`)
  const handlers = handlersFor(host)
  const target = handlers[op.target]
  const previous = findResource(ledgerStore.ledger, op)
  // If the ledger records a resource of another kind under this name, that resource is removed first.
  const isOtherKind = previous !== undefined && previous.target !== op.target
  if (isOtherKind) await handlers[previous.target].remove(previous, { host, ledger: ledgerStore.ledger })
  const head = buildHeader(run, op, previous)
  const context = {
    host,
    plan,
    ledger: ledgerStore.ledger,
    component,
    head,
    secrets,
    certificates,
    newUnits,
    emit,
    signal,
  }
  const recorded = previous === undefined || isOtherKind ? await target.recordBefore(context) : previous
  if (recorded !== undefined && recorded !== previous)
    await ledgerStore.save(withResource(ledgerStore.ledger, recorded))
  const { changed, resource } = await target.make(context, recorded)
  const state = await target.inspect(resource, context)
  if (state !== 'as-written') throw notVerified(op, state === 'absent' ? 'missing' : state.drift)
  await ledgerStore.save(withResource(ledgerStore.ledger, resource))
  return changed ? 'done' : 'unchanged'
}

/**
 * Builds the common ledger fields of a resource. If several components own the resource, the digest of the
 * first owner is used.
 */
function buildHeader(
  { items, through }: PlanRun,
  op: Op,
  previous: LedgerResource | undefined,
): ResourceHeader {
  const planned = items.filter((item) => resourceKey(item) === resourceKey(op))
  const [firstOwner] = planned
  if (firstOwner === undefined) throw new Error(`the plan has no ${op.target} ${op.name}`)
  return {
    name: op.name,
    digest: firstOwner.digest,
    owners: resolveOwners(planned, previous?.owners ?? [], through),
  }
}

function notVerified({ target, name, component }: Op, what: string): HyperkubeError {
  return new HyperkubeError(
    'APPLY_NOT_VERIFIED',
    `${target} ${name} changed right after hyperkube wrote it: ${what}`,
    {
      component,
      hint: 'another program changes it: stop that program, then run the same command again',
    },
  )
}

async function removeResource({ host, ledgerStore, emit }: PlanRun, op: Op): Promise<OpOutcome> {
  const resource = findResource(ledgerStore.ledger, op)
  if (resource === undefined) {
    // A path that is not in the ledger is removed only inside hyperkube's own directories.
    if (!isAtOrBelow(op.name, host.layout.exclusiveDirectories)) return 'unchanged'
    await host.files.removeTree(op.name)
    return 'done'
  }
  const context = { host, ledger: ledgerStore.ledger }
  const { changed, retained, inUse = [] } = await handlersFor(host)[resource.target].remove(resource, context)
  if (inUse.length === 0) await ledgerStore.save(withoutResource(ledgerStore.ledger, op, retained))
  else emit({ type: 'log', lines: inUse.map(formatInUse) }, op.component)
  return changed ? 'done' : 'unchanged'
}

/** Formats the message for a path that could not be removed yet. */
export function formatInUse(path: string): string {
  return `${path} is still in use by a running program; the next run removes it`
}
