import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import type { WithoutAgentsResult } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { HealCluster } from './heal-cluster.ts'

/** Time in milliseconds for systemd and Kubernetes to heal a fault. */
export const withoutAgentsTimeoutMs = 90_000

/** Stops all agents; disposing the result starts them again. */
export async function stopAgents(cluster: HealCluster): Promise<AsyncDisposable> {
  await cluster.runOnAllHosts(`systemctl stop hyperkube-agent
    [ "$(systemctl is-active hyperkube-agent || true)" != active ]`)
  return { [Symbol.asyncDispose]: async () => cluster.runOnAllHosts('systemctl start hyperkube-agent') }
}

/** Injects a fault while all agents are stopped, and measures whether it heals. */
export async function runFaultWithoutAgents(
  cluster: HealCluster,
  row: HealRow,
  host: Host,
): Promise<WithoutAgentsResult> {
  const problems: string[] = []
  const recordProblem = (error: unknown): void =>
    void problems.push(error instanceof Error ? error.message : String(error))
  const waitUntilHealed = async (timeoutMs: number): Promise<number> => {
    const began = performance.now()
    await pollUntil(`${row.what} on ${host.name} to heal`, async () => row.isHealed(cluster, host), {
      timeoutMs,
      intervalMs: 300,
    })
    return performance.now() - began
  }
  let healed: number | undefined
  try {
    await row.inject(cluster, host)
    healed = await waitUntilHealed(withoutAgentsTimeoutMs).catch(() => undefined)
  } catch (error) {
    recordProblem(error)
  } finally {
    await row.undo(cluster, host).catch(recordProblem)
    // The next fault needs a healthy cluster.
    await waitUntilHealed(row.timeoutMs).catch(recordProblem)
  }
  return { row, healed, problems }
}
