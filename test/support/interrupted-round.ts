import { z } from 'zod'
import type { Machine } from '../../lab/hosts/machine.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { clientOf } from './client-certificate.ts'
import { type Course, momentAt } from './up-phases.ts'
import { interruptedUp } from './interrupted-up.ts'
import type { Interruption } from './interruption.ts'
import { changed, type Known, known } from './cluster-invariants.ts'
import { nodesReady } from './membership.ts'
import type { Operator } from './operator.ts'

export interface RoundResult {
  readonly interruption: Interruption
  readonly moment: string
  readonly ended: string
  /** How long the next `up` took, in seconds. */
  readonly recovery: number
  readonly wrong: readonly string[]
  readonly known: Known
}

/**
 * Interrupts `up` while there is something to do, and lets the next one finish: it must not be refused, must leave nothing
 * to do, and all that was known of the cluster must still be so.
 */
export async function interruptedRound(
  operator: Operator,
  lab: Lab,
  {
    interruption,
    course,
    before,
  }: { interruption: Interruption; course: Course; before?: Known | undefined },
): Promise<RoundResult> {
  const { kind, point } = interruption
  // Until somebody has logged in there may be no agent to kill.
  const possible = course.filter(({ phase }) => kind !== 'agent-killed' || phase !== 'reach')
  const first = await interruptedUp(operator, lab, interruption, momentAt(possible, point))
  const wrong = [...first.wrong]
  if (kind === 'cli-interrupted') wrong.push(...(await claimed(operator.hosts)))
  const between = await known(operator)
  const began = performance.now()
  const next = await operator.hyperkube('up', '--yes')
  const recovery = (performance.now() - began) / 1000
  if (next.code !== 0) wrong.push(`the next up ended with ${next.code}: ${next.stderr}${next.stdout}`)
  else wrong.push(...(await unsettled(operator, next)))
  const after = await known(operator)
  wrong.push(...[before, between].flatMap((one) => (one === undefined ? [] : changed(one, after))))
  return { interruption, moment: first.moment, ended: first.ended, recovery, wrong, known: after }
}

/** What is not as it should be once an `up` has ended well. */
async function unsettled(operator: Operator, last: CommandResult): Promise<string[]> {
  // Where the interrupted one went on by itself, the next one had nothing to do already.
  const { code, stderr } = isIdle(last) ? last : await operator.hyperkube('up', '--yes')
  return [
    ...(isIdle({ code, stderr }) ? [] : [`a further up ended with ${code}: ${stderr}`]),
    ...(await claimed(operator.hosts)),
    ...(await unwell(operator)),
  ]
}

function isIdle({ code, stderr }: Pick<CommandResult, 'code' | 'stderr'>): boolean {
  return code === 0 && stderr.includes('nothing to do')
}

const claim = z.object({ holder: z.string(), heard: z.number(), released: z.boolean() })
/** After so long, in milliseconds, nobody heeds a claim whose holder says nothing. */
const silence = 60_000

/**
 * Hosts that are still somebody's. Where a holder was killed and the next `up` had nothing to do, nobody took the claim
 * from them: it must lapse by itself.
 */
async function claimed(hosts: readonly Machine[]): Promise<string[]> {
  let held: string[] = []
  const look = async (): Promise<boolean> => {
    held = (await settleAll(hosts.map(holderOf))).flat()
    return held.length === 0
  }
  await until('claims to be given back, or to lapse', look, { within: 2 * silence, every: 1000 }).catch(
    () => undefined,
  )
  return held
}

async function holderOf(host: Machine): Promise<string[]> {
  const { code, stdout } = await host.script('cat /var/lib/hyperkube/agent/claim.json', {
    allowFailure: true,
  })
  if (code !== 0) return []
  const { holder, heard, released } = claim.parse(JSON.parse(stdout))
  return released || Date.now() - heard > silence ? [] : [`${host.name} is claimed by ${holder}`]
}

const pods = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) })

/** A host that was away is seen to be back a moment later. */
async function unwell(operator: Operator): Promise<string[]> {
  const admin = await clientOf(await operator.identity(), 'kubernetes', 'test', ['system:masters'])
  const api = new KubeApi(`https://${operator.hosts[0]?.address}:6443`, admin)
  try {
    await until(
      'all nodes to be Ready',
      async () => (await nodesReady(api)).length === operator.hosts.length,
      { within: 60_000 },
    )
    const left = pods.parse(
      await api.get('/api/v1/namespaces/kube-system/pods?labelSelector=hyperkube.dev%2Ftrial'),
    )
    return left.items.map(({ metadata }) => `a pod was left behind: ${metadata.name}`)
  } catch (error) {
    return [String(error)]
  } finally {
    api.close()
  }
}
