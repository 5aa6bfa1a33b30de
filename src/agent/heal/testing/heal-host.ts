import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { componentOf } from '../../../diff/testing/fixtures.ts'
import { applied, hostPlan, publish, running } from '../../apply/testing/fixtures.ts'
import { inMemory } from '../../facts/testing/fake-fact-source.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { ClaimStore } from '../../operator-lock/operator-lock-store.ts'
import { linuxWork } from '../../host-operations/linux-operations.ts'
import { RunLog } from '../../runs/run-event-log.ts'
import { Runs } from '../../runs/runs.ts'
import type { ActScene } from '../actions/perform-step.ts'

export const subnetFile = '/run/flannel/subnet.env'
export const conflist = '/etc/cni/net.d/10-flannel.conflist'

/** For tests: a host with a runtime, a network whose configuration is derived, a file with a secret, and one that matters once. */
export function healPlan(text = 'one'): NodePlan {
  return hostPlan(
    running('containerd', '1', { stage: 'node', text }),
    running('flanneld', '1', { stage: 'network', derivedFiles: [derived] }),
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

const withSecret = componentOf({
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
      path: '/etc/hyperkube/agent/birth',
      owner: 'root',
      mode: '0600',
      content: { kind: 'text', text: 'new' },
      restart: false,
      once: true,
    },
  ],
})

export async function putOn(host: TemporaryHost, path: string, text: string): Promise<void> {
  await mkdir(dirname(host.place(path)), { recursive: true })
  await writeFile(host.place(path), text)
}

export async function setUp(host: TemporaryHost, plan: NodePlan = healPlan()): Promise<NodePlan> {
  publish(host, plan)
  await putOn(host, subnetFile, 'FLANNEL_SUBNET=10.244.3.1/24\n')
  await applied(host, plan, { secrets: { key: 'secret' } })
  host.systemd.calls.length = 0
  return plan
}

export async function sceneOf(
  host: TemporaryHost,
  plan: NodePlan,
): Promise<ActScene & { claims: ClaimStore }> {
  const state = host.place(host.layout.state)
  return {
    host,
    plan,
    work: linuxWork(host, inMemory({})),
    runs: new Runs('a', new RunLog(join(state, 'runs')), () => host.clock.now()),
    claims: await ClaimStore.open(join(state, 'claim.json'), () => host.clock.time),
  }
}
