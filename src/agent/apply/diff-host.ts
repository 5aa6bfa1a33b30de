import type { Finding } from '../../contract/finding.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { diffPlan } from '../../diff/diff.ts'
import { listResources } from '../../diff/plan-resources.ts'
import { type PresentResource, resourceKey } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { type InspectedResource, inspectLedger, toPresentResources } from '../resources/inspect.ts'
import { emptyLedger, readLedger } from '../records/ledger.ts'
import { findOrphans } from './orphans.ts'

export interface HostDiff {
  readonly ops: Op[]
  /** Findings about resources that differ from their ledger entries, and about orphans. */
  readonly findings: Finding[]
}

/** Computes the ops that bring a host to its plan. Inspects everything and changes nothing. */
export async function diffHost(host: Host, plan: NodePlan, renew = false): Promise<HostDiff> {
  return diffLedger(host, plan, await readLedgerFor(host, plan), renew)
}

/** Like `diffHost`, for a ledger that was already read. With `renew`, valid certificates are replaced too. */
export async function diffLedger(
  host: Host,
  plan: NodePlan,
  ledger: Ledger,
  renew = false,
): Promise<HostDiff> {
  const inspected = await inspectLedger({ host, ledger, plan, renew })
  const orphans = await findOrphans(host, ledger, plan)
  return {
    ops: diffPlan(plan, [
      ...toPresentResources(inspected),
      ...listGoneResources(plan, inspected),
      ...orphans,
    ]),
    findings: [
      ...inspected.flatMap((one) => findDrift(plan, one)),
      ...orphans.map((one) => orphanFinding(plan, one)),
    ],
  }
}

/**
 * Lists ledger resources that are absent from the host and no longer planned. An earlier removal may have
 * been interrupted, so each removal is repeated before the ledger drops the resource.
 */
function listGoneResources(plan: NodePlan, inspected: readonly InspectedResource[]): PresentResource[] {
  const planned = new Set(listResources(plan).map(resourceKey))
  const gone = inspected.filter(
    ({ resource, state }) => state === 'absent' && !planned.has(resourceKey(resource)),
  )
  return toPresentResources(gone.map(({ resource }) => ({ resource, state: { drift: 'missing' } })))
}

/** Reads the ledger of a host. Throws if the plan is for another operating system or another cluster. */
export async function readLedgerFor(host: Host, plan: NodePlan): Promise<Ledger> {
  if (plan.os !== host.os) {
    throw new HyperkubeError(
      'APPLY_OTHER_SYSTEM',
      `the plan is for ${plan.os}, but the host runs another operating system`,
      {
        host: plan.host,
        hint: 'set os of the host in cluster.yml, then run the same command again',
      },
    )
  }
  const ledger = (await readLedger(host)) ?? emptyLedger(plan.cluster)
  if (ledger.cluster.id === plan.cluster.id) return ledger
  throw new HyperkubeError(
    'APPLY_OTHER_CLUSTER',
    `the host belongs to cluster ${ledger.cluster.name} (${ledger.cluster.id})`,
    {
      host: plan.host,
      hint: 'check address of the host; if that cluster is gone, with its cluster.yml: hyperkube reset --limit HOST',
    },
  )
}

function findDrift({ host }: NodePlan, { resource, state, service }: InspectedResource): Finding[] {
  const { target, name, owners } = resource
  const subject = { host, ...(owners[0] === undefined ? {} : { component: owners[0].component }) }
  const finding = (what: string): Finding => ({
    code: 'HOST_DRIFT',
    severity: 'warning',
    message: `${target} ${name} drifted: ${what}`,
    ...subject,
  })
  if (state === 'absent') return [finding('missing')]
  if (state !== 'as-written') return state.due === true ? [] : [finding(state.drift)]
  return service?.running === false ? [finding('not running, or not enabled at boot')] : []
}

function orphanFinding({ host }: NodePlan, { name, component }: PresentResource): Finding {
  const message = `${name} is in a directory of hyperkube, but belongs to no component`
  return { code: 'HOST_ORPHAN', severity: 'warning', message, host, component }
}
