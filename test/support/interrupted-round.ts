import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { type ClusterInvariants, findChangedInvariants, readInvariants } from './cluster-invariants.ts'
import { runInterruptedUp } from './interrupted-up.ts'
import type { Interruption } from './interruption.ts'
import { listReadyNodes } from './membership.ts'
import type { Operator } from './operator.ts'
import { selectPhaseEvent, type UpPhases } from './up-phases.ts'

export interface RoundResult {
  readonly interruption: Interruption
  readonly moment: string
  readonly ended: string
  /** Duration in seconds of the `up` that follows the interruption. */
  readonly recovery: number
  readonly problems: readonly string[]
  readonly invariants: ClusterInvariants
}

/**
 * Interrupts `up` while there is work to do, then runs it again. The second run must not be refused and must
 * leave nothing to do. The invariants of the cluster must not change.
 */
export async function runInterruptedRound(
  operator: Operator,
  lab: Lab,
  {
    interruption,
    phases,
    before,
  }: { interruption: Interruption; phases: UpPhases; before?: ClusterInvariants | undefined },
): Promise<RoundResult> {
  const { kind, point } = interruption
  // In the phase `reach`, the ssh login, a host may not have an agent yet. So no agent can be killed in this
  // phase.
  const eligible = phases.filter(({ phase }) => kind !== 'agent-killed' || phase !== 'reach')
  const first = await runInterruptedUp(operator, lab, interruption, selectPhaseEvent(eligible, point))
  const problems = [...first.problems]
  if (kind === 'cli-interrupted') problems.push(...(await findClaims(operator.hosts)))
  const between = await readInvariants(operator)
  const began = performance.now()
  const next = await operator.hyperkube('up', '--yes')
  const recovery = (performance.now() - began) / 1000
  if (next.code !== 0) problems.push(`the next up ended with ${next.code}: ${next.stderr}${next.stdout}`)
  else problems.push(...(await findUnsettled(operator, next)))
  const after = await readInvariants(operator)
  problems.push(
    ...[before, between].flatMap((one) => (one === undefined ? [] : findChangedInvariants(one, after))),
  )
  return { interruption, moment: first.moment, ended: first.ended, recovery, problems, invariants: after }
}

/** Lists problems that remain after a successful `up`. */
async function findUnsettled(operator: Operator, last: CommandResult): Promise<string[]> {
  // A further `up` must find nothing to do. It is not needed if `last` already found nothing to do, because
  // all work was done despite the interruption.
  const { code, stderr } = hasNothingToDo(last) ? last : await operator.hyperkube('up', '--yes')
  return [
    ...(hasNothingToDo({ code, stderr }) ? [] : [`a further up ended with ${code}: ${stderr}`]),
    ...(await findClaims(operator.hosts)),
    ...(await findUnhealthy(operator)),
  ]
}

function hasNothingToDo({ code, stderr }: Pick<CommandResult, 'code' | 'stderr'>): boolean {
  return code === 0 && stderr.includes('nothing to do')
}

const claimSchema = z.object({ holder: z.string(), lastHeartbeat: z.number(), released: z.boolean() })
/** Milliseconds without a heartbeat after which an operator lock (claim) expires. */
const claimTimeoutMs = 60_000

/**
 * Waits until all operator locks (claims) are released or expired. Returns the hosts on which a lock is still
 * held after two minutes.
 */
async function findClaims(hosts: readonly Machine[]): Promise<string[]> {
  let holders: string[] = []
  const checkClaims = async (): Promise<boolean> => {
    holders = (await settleAll(hosts.map(readHolder))).flat()
    return holders.length === 0
  }
  await pollUntil('claims to be released, or to lapse', checkClaims, {
    timeoutMs: 2 * claimTimeoutMs,
    intervalMs: 1000,
  }).catch(() => undefined)
  return holders
}

async function readHolder(host: Machine): Promise<string[]> {
  const { code, stdout } = await host.script('cat /var/lib/hyperkube/agent/claim.json', {
    allowFailure: true,
  })
  if (code !== 0) return []
  const { holder, lastHeartbeat, released } = claimSchema.parse(JSON.parse(stdout))
  return released || Date.now() - lastHeartbeat > claimTimeoutMs
    ? []
    : [`${host.name} is claimed by ${holder}`]
}

const podList = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) })

/**
 * Waits until all nodes are Ready, because a restarted host needs some time. Lists the problems of the
 * cluster.
 */
async function findUnhealthy(operator: Operator): Promise<string[]> {
  const admin = await issueClientCertificate(await operator.identity(), 'kubernetes', 'test', [
    'system:masters',
  ])
  const api = new KubeApi(`https://${operator.hosts[0]?.address}:6443`, admin)
  try {
    await pollUntil(
      'all nodes to be Ready',
      async () => (await listReadyNodes(api)).length === operator.hosts.length,
      { timeoutMs: 60_000 },
    )
    const leftover = podList.parse(
      await api.get('/api/v1/namespaces/kube-system/pods?labelSelector=hyperkube.dev%2Fsmoke-test'),
    )
    return leftover.items.map(({ metadata }) => `a pod was left behind: ${metadata.name}`)
  } catch (error) {
    return [String(error)]
  } finally {
    api.close()
  }
}
