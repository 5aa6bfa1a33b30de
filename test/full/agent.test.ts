import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { kubernetesVersions } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { clusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { OwnRelease } from '../../src/lifecycle/agent-install.ts'
import { resetHost } from '../../src/lifecycle/reset.ts'
import { AgentHost, directoryOf } from '../support/agent-host.ts'
import { type HostSnapshot, snapshot } from '../support/host-snapshot.ts'
import { labMirror } from '../support/lab-mirror.ts'
import { freshLab, oneHost } from '../support/lab.ts'
import { meet, releaseOf } from '../support/own-releases.ts'

/** Two releases of hyperkube and a whole node, through the commands that a person types. */
const [kubernetes] = kubernetesVersions
const services = [
  'apiserver-proxy',
  'containerd',
  'etcd',
  'flanneld',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubelet',
]

let lab: Lab
let mirror: Mirror
let at: AgentHost
let directory: string
let before: HostSnapshot
let older: OwnRelease
let newer: OwnRelease

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  lab = await freshLab('agent-full')
  mirror = await labMirror(lab)
  const host = await oneHost(lab, 'cp1')
  at = new AgentHost(host)
  before = await snapshot(host)
  older = await releaseOf('0.1.0', directory)
  newer = await releaseOf('0.2.0', directory)
  const cluster = clusterDocument(kubernetes.slice(1), mirror.address, [host])
  await writeFile(join(directory, 'cluster.yml'), stringify(cluster))
  for (const words of [['init'], ['lock'], ['up', '--yes']]) await hyperkube(older, ...words)
})
afterAll(async () => {
  try {
    await mirror.close()
    await rm(directory, { recursive: true, force: true })
  } finally {
    await lab.down()
  }
})

async function hyperkube({ file }: OwnRelease, ...words: readonly string[]): Promise<void> {
  await run([file, ...words, '-f', join(directory, 'cluster.yml')], {
    env: { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory },
  })
}

test('a newer hyperkube restarts nothing of a node, and leaves nothing of the former', async () => {
  const was = await at.processes(services)
  expect(was).not.toMatch(/ 0( |$)/m)
  await hyperkube(newer, 'up', '--yes')
  expect([await at.current(), await at.releases()]).toEqual([directoryOf(newer), [directoryOf(newer)]])
  expect(await at.processes(services)).toBe(was)
})

test('an older one mends what has drifted, through the newer agent', async () => {
  const was = await at.processes(services)
  await at.script('rm /etc/crictl.yaml')
  await hyperkube(older, 'up', '--yes')
  expect(await at.script('ls /etc/crictl.yaml')).toBe('/etc/crictl.yaml')
  expect([await at.current(), await at.releases()]).toEqual([directoryOf(newer), [directoryOf(newer)]])
  expect(await at.processes(services)).toBe(was)
})

test('a reset through the agent leaves the host as it was', async () => {
  const crew = await meet(at.host, newer, { signal: new AbortController().signal })
  const session = crew.sessions.get('cp1')
  if (session === undefined) throw crew.missing.get('cp1') ?? new Error('nobody answers')
  const claim = { holder: 'test', generation: 1000 }
  await session.ask({ type: 'claim', claim, force: true }, 'claimed')
  await resetHost(session, claim, () => undefined)
  await crew.close()
  await until(
    'the agent to be gone',
    async () =>
      (await at.script('systemctl list-units --all --plain --no-legend hyperkube-agent.service')) === '',
    { within: 10_000 },
  )
  expect(await at.script('ls -d /run/hyperkube 2>/dev/null || true')).toBe('')
  expect(await snapshot(at.host)).toEqual(before)
})
