import { join } from 'node:path'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Trial } from '../../../contract/provisional-change.ts'
import { digestOf } from '../../../diff/digest.ts'
import { until } from '../../../kit/poll-until.ts'
import { hostPlan, publish, running } from '../../apply/testing/fixtures.ts'
import { inMemory } from '../../facts/testing/fake-fact-source.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import type { Look } from '../../loop/run-loop.ts'
import type { HostWork } from '../../server/dispatch.ts'
import { ClaimStore } from '../../operator-lock/operator-lock-store.ts'
import { linuxWork } from '../../host-operations/linux-operations.ts'
import { RunLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import { trialLook } from '../rollback-check.ts'

/** For tests: a host with two services, of which the settings of one are tried. */
export function settingsPlan(text: string): NodePlan {
  return hostPlan(running('etcd', '1', { stage: 'etcd' }), running('kubelet', '1', { stage: 'node', text }))
}

export const before = settingsPlan('before')
export const tried = settingsPlan('tried')
export const minute = 60_000

export function trialUntil(deadline: number, slot = 2 * minute, plan: NodePlan = tried): Trial {
  const id = '22222222-2222-4222-8222-222222222222'
  return { id, plan: digestOf(plan), deadline: new Date(deadline).toISOString(), slot }
}

/** For tests: an agent of a host; another one begins with what is on its disk. */
export interface TrialAgent {
  readonly work: HostWork
  readonly runs: Runs
  readonly claims: ClaimStore
  readonly said: readonly string[]
  readonly look: () => Promise<Look>
}

export async function agentOf(host: TemporaryHost, through: LinuxHost = host): Promise<TrialAgent> {
  const state = host.place(host.layout.state)
  const runs = new Runs('a', new RunLog(join(state, 'runs')), () => host.clock.now())
  const claims = await ClaimStore.open(join(state, 'claim.json'), () => host.clock.time)
  const work = linuxWork(through, inMemory({}))
  const said: string[] = []
  const signal = new AbortController().signal
  const look = trialLook({ host: through, work, runs, claims, say: (text) => void said.push(text), signal })
  const rested = async (): Promise<Look> => {
    const answer = await look()
    // The end of a run is told before it is forgotten.
    await until('the run to be over', async () => !runs.busy, { within: 5000, every: 1 })
    return answer
  }
  return { work, runs, claims, said, look: rested }
}

export async function settingOf(host: TemporaryHost): Promise<string | undefined> {
  return (await host.files.read('/etc/hyperkube/kubelet/config'))?.toString('utf8')
}

export function publishAll(host: TemporaryHost): void {
  for (const plan of [before, tried]) publish(host, plan)
}
