import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { kubernetesVersions } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { buildClusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { AgentRelease } from '../../src/lifecycle/agents/agent-release.ts'
import { resetHost } from '../../src/lifecycle/execute/remove-host.ts'
import { AgentHost, formatReleaseDirectory } from '../support/agent-host.ts'
import { type HostSnapshot, takeHostSnapshot } from '../support/host-snapshot.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { buildRelease, connectHost } from '../support/own-releases.ts'

/**
 * Kubernetes version of the node on which this suite installs and updates agents with the commands of an
 * operator.
 */
const [kubernetes] = kubernetesVersions
const services = [
  'apiserver-proxy',
  'containerd',
  'etcd',
  'flanneld',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-router',
  'kube-scheduler',
  'kubelet',
]

let lab: Lab
let mirror: Mirror
let agentHost: AgentHost
let directory: string
let before: HostSnapshot
let older: AgentRelease
let newer: AgentRelease

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agent-'))
  lab = await openFreshLab('agent-full')
  mirror = await openLabMirror(lab)
  const host = await startOneHost(lab, 'cp1')
  agentHost = new AgentHost(host)
  before = await takeHostSnapshot(host)
  older = await buildRelease('0.1.0', directory)
  newer = await buildRelease('0.2.0', directory)
  const cluster = buildClusterDocument(kubernetes.slice(1), mirror.address, [host])
  await writeFile(join(directory, 'cluster.yml'), stringify(cluster))
  await writeKnownHosts(directory, [host])
  for (const args of [['init'], ['lock'], ['up', '--yes']]) await hyperkube(older, ...args)
})
afterAll(async () => {
  try {
    await mirror.close()
    await rm(directory, { recursive: true, force: true })
  } finally {
    await lab.down()
  }
})

async function hyperkube({ file }: AgentRelease, ...args: readonly string[]): Promise<void> {
  await runProgram([file, ...args, '-f', join(directory, 'cluster.yml')], {
    env: { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory },
  })
}

test('a newer hyperkube restarts no service of a node and removes the previous release', async () => {
  const processesBefore = await agentHost.readProcesses(services)
  expect(processesBefore).not.toMatch(/ 0( |$)/m)
  await hyperkube(newer, 'up', '--yes')
  expect([await agentHost.readCurrentRelease(), await agentHost.listReleases()]).toEqual([
    formatReleaseDirectory(newer),
    [formatReleaseDirectory(newer)],
  ])
  expect(await agentHost.readProcesses(services)).toBe(processesBefore)
})

test('an older hyperkube repairs drift through the newer agent', async () => {
  const processesBefore = await agentHost.readProcesses(services)
  await agentHost.script('rm /etc/crictl.yaml')
  await hyperkube(older, 'up', '--yes')
  expect(await agentHost.script('ls /etc/crictl.yaml')).toBe('/etc/crictl.yaml')
  expect([await agentHost.readCurrentRelease(), await agentHost.listReleases()]).toEqual([
    formatReleaseDirectory(newer),
    [formatReleaseDirectory(newer)],
  ])
  expect(await agentHost.readProcesses(services)).toBe(processesBefore)
})

test('a reset through the agent restores the initial state of the host', async () => {
  const connected = await connectHost(agentHost.host, newer, { signal: new AbortController().signal })
  const session = connected.sessions.get('cp1')
  if (session === undefined) throw connected.unreachable.get('cp1') ?? new Error('the host is unreachable')
  const claim = { holder: 'test', generation: 1000 }
  await session.request({ type: 'claim', claim, force: true }, 'claimed')
  await resetHost(session, claim, () => undefined)
  await connected.close()
  await pollUntil(
    'the agent to be removed',
    async () =>
      (await agentHost.script('systemctl list-units --all --plain --no-legend hyperkube-agent.service')) ===
      '',
    { timeoutMs: 10_000 },
  )
  expect(await agentHost.script('ls -d /run/hyperkube 2>/dev/null || true')).toBe('')
  expect(await takeHostSnapshot(agentHost.host)).toEqual(before)
})
