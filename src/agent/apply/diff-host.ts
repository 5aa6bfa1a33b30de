import type { Finding } from '../../contract/finding.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { diff } from '../../diff/diff.ts'
import { type PresentItem, thingOf } from '../../diff/resource.ts'
import { items } from '../../diff/plan-resources.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { emptyLedger } from './ledger.ts'
import { readLedger } from './ledger-store.ts'
import { type Found, inspectAll, presentItems } from './inspect.ts'
import { strays } from './orphans.ts'

export interface HostDiff {
  readonly ops: Op[]
  /** What is not as it was left. */
  readonly findings: Finding[]
}

/** What has to be done so that a host is as its plan says. Looks at everything and changes nothing. */
export async function diffHost(host: Host, plan: NodePlan, renew = false): Promise<HostDiff> {
  return diffLedger(host, plan, await ledgerFor(host, plan), renew)
}

/** With `renew`, certificates that are good for long are to be changed as well. */
export async function diffLedger(
  host: Host,
  plan: NodePlan,
  ledger: Ledger,
  renew = false,
): Promise<HostDiff> {
  const found = await inspectAll({ host, ledger, plan, renew })
  const stray = await strays(host, ledger, plan)
  return {
    ops: diff(plan, [...presentItems(found), ...goneItems(plan, found), ...stray]),
    findings: [...found.flatMap((one) => drift(plan, one)), ...stray.map((one) => strayFinding(plan, one))],
  }
}

/**
 * What is gone already and has left the plan: whoever took it away may have been cut over it, so that it is taken away
 * once more, with all that belongs to it, before it is forgotten.
 */
function goneItems(plan: NodePlan, found: readonly Found[]): PresentItem[] {
  const planned = new Set(items(plan).map(thingOf))
  const gone = found.filter(({ thing, state }) => state === 'absent' && !planned.has(thingOf(thing)))
  return presentItems(gone.map(({ thing }) => ({ thing, state: { drift: 'it is gone' } })))
}

/** The ledger of a host, if it is one that this plan may change. */
export async function ledgerFor(host: Host, plan: NodePlan): Promise<Ledger> {
  if (plan.os !== host.os) {
    throw new HyperkubeError('APPLY_OTHER_SYSTEM', `the plan is for ${plan.os}, and this host is not`, {
      host: plan.host,
      hint: 'look at os of the host in cluster.yml',
    })
  }
  const ledger = (await readLedger(host)) ?? emptyLedger(plan.cluster)
  if (ledger.cluster.id === plan.cluster.id) return ledger
  throw new HyperkubeError(
    'APPLY_OTHER_CLUSTER',
    `the host belongs to the cluster ${ledger.cluster.name} (${ledger.cluster.id})`,
    { host: plan.host, hint: 'reset it first, if that cluster can do without it: hyperkube reset' },
  )
}

function drift({ host }: NodePlan, { thing, state, service }: Found): Finding[] {
  const { target, name, of } = thing
  const about = { host, ...(of[0] === undefined ? {} : { component: of[0].component }) }
  const finding = (what: string): Finding => ({
    code: 'HOST_DRIFT',
    severity: 'warning',
    message: `${target} ${name} is not as it was left: ${what}`,
    ...about,
  })
  if (state === 'absent') return [finding('it is gone')]
  if (state !== 'as-written') return state.due === true ? [] : [finding(state.drift)]
  return service?.running === false ? [finding('it does not run, or would not after a boot')] : []
}

function strayFinding({ host }: NodePlan, { name, component }: PresentItem): Finding {
  const message = `${name} is in a directory of ours, and no component has put it there`
  return { code: 'HOST_STRAY', severity: 'warning', message, host, component }
}
