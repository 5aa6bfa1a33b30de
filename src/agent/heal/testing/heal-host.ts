import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { buildComponent } from '../../../diff/testing/fixtures.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../../apply/testing/fixtures.ts'
import { createFakeFactSource } from '../../facts/testing/fake-fact-source.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { OperatorLockStore } from '../../operator-lock/operator-lock-store.ts'
import { createLinuxOperations } from '../../platform/host-operations.ts'
import { RunEventLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import type { PerformStepDeps } from '../linux/perform-step.ts'

export const subnetFile = '/run/flannel/subnet.env'
export const conflist = '/etc/cni/net.d/10-flannel.conflist'

/**
 * For tests: a plan with a container runtime, a derived network configuration, a secret file and a file that
 * matters only at bootstrap.
 */
export function healPlan(text = 'one'): NodePlan {
  return buildPlanWithHost(
    runningComponent('containerd', '1', { stage: 'node', text }),
    runningComponent('flanneld', '1', { stage: 'network', derivedFiles: [derived] }),
    withSecret,
  )
}

const derived: ComponentPlan['derivedFiles'][number] = {
  path: conflist,
  owner: 'root',
  mode: '0600',
  from: subnetFile,
  template: '${FLANNEL_SUBNET|network}\n',
}

const withSecret = buildComponent({
  name: 'hyperkube-agent',
  directories: [{ path: '/etc/hyperkube/agent', owner: 'root', mode: '0700' }],
  files: [
    {
      path: '/etc/hyperkube/agent/key',
      owner: 'root',
      mode: '0600',
      content: { kind: 'secret', secret: 'key', tag: 'tag' },
      restart: false,
    },
    {
      path: '/etc/hyperkube/agent/bootstrap',
      owner: 'root',
      mode: '0600',
      content: { kind: 'text', text: 'new' },
      restart: false,
      once: true,
    },
  ],
})

export async function writeHostFile(host: TemporaryHost, path: string, text: string): Promise<void> {
  await mkdir(dirname(host.toLocalPath(path)), { recursive: true })
  await writeFile(host.toLocalPath(path), text)
}

export async function setUpHealHost(host: TemporaryHost, plan: NodePlan = healPlan()): Promise<NodePlan> {
  publishPrograms(host, plan)
  await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=10.244.3.1/24\n')
  await applyAndListOps(host, plan, { secrets: { key: 'secret' } })
  host.services.calls.length = 0
  return plan
}

export async function createStepDeps(
  host: TemporaryHost,
  plan: NodePlan,
): Promise<PerformStepDeps & { claims: OperatorLockStore }> {
  const state = host.toLocalPath(host.layout.state)
  return {
    host,
    plan,
    work: createLinuxOperations(host, createFakeFactSource({})),
    runs: new Runs('a', new RunEventLog(join(state, 'runs')), () => host.clock.now()),
    claims: await OperatorLockStore.open(join(state, 'claim.json'), () => host.clock.time),
  }
}
