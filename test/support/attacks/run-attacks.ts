import type { Host } from '../../../lab/hosts/host.ts'
import type { UpCluster } from '../up-cluster.ts'
import type { Attack, AttackContext } from './attack.ts'
import { collectLoot } from './stolen-credentials.ts'

/** Takes over the workers w1 and w2 of a cluster: collects everything that root finds there. */
export async function openAttack(cluster: UpCluster): Promise<AttackContext> {
  const [loot, otherLoot] = [
    await collectLoot(findHost(cluster, 'w1')),
    await collectLoot(findHost(cluster, 'w2')),
  ]
  return { cluster, loot, otherLoot }
}

export function findHost({ hosts }: UpCluster, name: string): Host {
  const host = hosts.find((one) => one.name === name)
  if (host === undefined) throw new Error(`the cluster has no host ${name}`)
  return host
}

/** An attempt and its result. */
export type AttackRecord = Pick<Attack, 'attacker' | 'what'> & { readonly refused: boolean }

/**
 * Runs attacks one after the other and adds all of them to `records`. Returns those that were not refused.
 */
export async function runAttacks(
  attacks: readonly Attack[],
  records: AttackRecord[] = [],
): Promise<string[]> {
  const succeeded: string[] = []
  for (const { attacker, what, run } of attacks) {
    const { refused, details } = await run()
    records.push({ attacker, what, refused })
    process.stderr.write(`${refused ? 'refused' : 'SUCCEEDED'}  ${attacker}: ${what}\n`)
    if (!refused) succeeded.push(`${attacker}: ${what}: ${details}`)
  }
  process.stderr.write(`${attacks.length} attempts, ${succeeded.length} succeeded\n`)
  return succeeded
}
