import { join } from 'node:path'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { ProvisionalChange } from '../../../contract/provisional-change.ts'
import { computeDigest } from '../../../diff/resource.ts'
import { pollUntil } from '../../../kit/poll.ts'
import { buildPlanWithHost, publishPrograms, runningComponent } from '../../apply/testing/fixtures.ts'
import { createFakeFactSource } from '../../facts/testing/fake-fact-source.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { OperatorLockStore } from '../../operator-lock/operator-lock-store.ts'
import { createLinuxOperations } from '../../platform/host-operations.ts'
import type { HostOperations } from '../../runs/host-operations.ts'
import { RunEventLog } from '../../runs/run-event-log.ts'
import type { TickResult } from '../../runs/run-loop.ts'
import { Runs } from '../../runs/runs.ts'
import { createRollbackCheck } from '../rollback-check.ts'

/**
 * For tests: a plan with two services. `text` is a setting of the kubelet that provisional changes replace.
 */
export function settingsPlan(text: string): NodePlan {
  return buildPlanWithHost(
    runningComponent('etcd', '1', { stage: 'etcd' }),
    runningComponent('kubelet', '1', { stage: 'node', text }),
  )
}

export const previousPlan = settingsPlan('before')
export const provisionalPlan = settingsPlan('tried')
export const minute = 60_000

export function provisionalUntil(
  deadline: number,
  rollbackDelayMs = 2 * minute,
  plan: NodePlan = provisionalPlan,
): ProvisionalChange {
  const id = '22222222-2222-4222-8222-222222222222'
  return { id, plan: computeDigest(plan), deadline: new Date(deadline).toISOString(), rollbackDelayMs }
}

/**
 * For tests: an agent of a host. A second agent on the same host starts with the state on the host's disk.
 */
export interface RollbackAgent {
  readonly work: HostOperations
  readonly runs: Runs
  readonly claims: OperatorLockStore
  readonly logged: readonly string[]
  readonly check: () => Promise<TickResult>
}

export async function startRollbackAgent(
  host: TemporaryHost,
  through: LinuxHost = host,
): Promise<RollbackAgent> {
  const state = host.toLocalPath(host.layout.state)
  const runs = new Runs('a', new RunEventLog(join(state, 'runs')), () => host.clock.now())
  const claims = await OperatorLockStore.open(join(state, 'claim.json'), () => host.clock.time)
  const work = createLinuxOperations(through, createFakeFactSource({}))
  const logged: string[] = []
  const signal = new AbortController().signal
  const check = createRollbackCheck({
    host: through,
    work,
    runs,
    claims,
    log: (text) => void logged.push(text),
    signal,
  })
  const checkAndWait = async (): Promise<TickResult> => {
    const result = await check()
    // A run emits its end before it is removed from `runs`, so the test waits for the removal.
    await pollUntil('the run to be over', async () => !runs.busy, { timeoutMs: 5000, intervalMs: 1 })
    return result
  }
  return { work, runs, claims, logged, check: checkAndWait }
}

export async function readSetting(host: TemporaryHost): Promise<string | undefined> {
  return (await host.files.read('/etc/hyperkube/kubelet/config'))?.toString('utf8')
}

export function publishSettingsPlans(host: TemporaryHost): void {
  for (const plan of [previousPlan, provisionalPlan]) publishPrograms(host, plan)
}
