import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { rke1Versions } from '../../lab/components/parts.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiReads, type ReadFigures } from '../support/api-reads.ts'
import { CountedWrites, findLostWrites } from '../support/counted-writes.ts'
import { compareStates, type HostState, readStates, settingsStates } from '../support/host-states.ts'
import { createRke1Cluster, type Rke1Cluster } from '../support/rke1-cluster.ts'

const shape = process.env['ADOPT_SHAPE'] ?? '1+1'
const evidence = join(import.meta.dirname, '../../docs/evidence/adopt-rke.md')
const timeout = 1_500_000

/** State of a host that must be the same after the way back. */
const states = {
  ...settingsStates,
  'programs of components':
    "ps -eo args | grep -E '[k]ube-|[k]ubelet |[e]tcd |[c]ri-dockerd|[d]ockerd|[n]ginx: master' | grep -Ev 'shim|entrypoint' | sort",
  'containers of RKE1':
    "docker inspect $(docker ps -aq --filter name='^/(etcd|kube.*|nginx-proxy|service-sidekick)$') --format '{{.Name}} {{.Id}} {{.Image}} {{.State.Running}} {{json .HostConfig.RestartPolicy}} {{json .Args}}' | sort",
}

/**
 * Files that programs rewrite, and directories of Docker and of CNI plugins, whose names change with each pod or
 * start.
 */
const ignored =
  /\/etc\/(?:passwd|shadow|group|gshadow|subuid|subgid)-| \/etc\/\.pwd\.lock|\/etc\/\.updated| \/var\/lib\/(?:docker|cni|cri-dockerd|rancher)\//

interface Row {
  readonly change: string
  readonly seconds: number
  readonly reads: ReadFigures
  readonly acknowledged: number
  readonly refused: number
  readonly lost: number
}

interface Named {
  readonly metadata: { readonly name: string }
}

describe(`moving the hosts of an RKE1 cluster, ${shape}, ${rke1Versions.kubernetes}`, () => {
  let cluster: Rke1Cluster
  let api: KubeApi
  let before: ReadonlyMap<string, HostState> = new Map()
  const rows: Row[] = []

  const file = (): string => cluster.path('cluster.yml')

  /** Runs a command while clients read and write objects, and expects that it succeeds. */
  async function runUnderLoad(change: string, ...args: readonly string[]): Promise<CommandResult> {
    const [first] = cluster.hosts
    if (first === undefined) throw new Error('the cluster has no host')
    const addresses = cluster.hosts.filter(({ name }) => name.startsWith('cp')).map(({ address }) => address)
    const writes = new CountedWrites(first, { host: first.address, port: 6443, credentials: cluster.api }, 5)
    const reads = new ApiReads(addresses, cluster.api, 20)
    const started = performance.now()
    const result = await cluster.hyperkube(...args, '-f', file())
    const seconds = (performance.now() - started) / 1000
    const [readFigures, writeFigures] = [await reads.stop(), await writes.stop()]
    process.stderr.write(
      `${change}: ${seconds.toFixed(1)} s, ${JSON.stringify(readFigures)}\n${result.stderr}\n`,
    )
    expect({ code: result.code, stderr: result.stderr }).toMatchObject({ code: 0 })
    const lost = await findLostWrites(api, writeFigures)
    const { acknowledged, refused } = writeFigures
    rows.push({
      change,
      seconds,
      reads: readFigures,
      acknowledged: acknowledged.length,
      refused,
      lost: lost.length,
    })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(lost).toEqual([])
    return result
  }

  /** Waits until all nodes are ready with this runtime and the pods of the DaemonSet of flannel run there. */
  async function expectNodes(runtime: 'docker' | 'containerd'): Promise<void> {
    const expected = cluster.hosts.map(({ name }) => name).toSorted()
    await pollUntil(
      `${expected.join(', ')} to be ready with ${runtime}`,
      async () => {
        const nodes = await api.get<{
          items: (Named & {
            status: {
              conditions: { type: string; status: string }[]
              nodeInfo: { containerRuntimeVersion: string }
            }
          })[]
        }>('/api/v1/nodes')
        const ready = nodes.items
          .filter(
            ({ status }) =>
              status.nodeInfo.containerRuntimeVersion.startsWith(`${runtime}://`) &&
              status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
          )
          .map(({ metadata }) => metadata.name)
        const { status } = await api.get<{ status: { numberReady: number; desiredNumberScheduled: number } }>(
          '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-flannel',
        )
        return (
          ready.toSorted().join() === expected.join() &&
          status.numberReady === status.desiredNumberScheduled &&
          status.numberReady === expected.length
        )
      },
      { timeoutMs: 180_000, intervalMs: 1000 },
    )
  }

  beforeAll(async () => {
    cluster = await createRke1Cluster({ name: 'adopt-rke', shape, executable: inject('executable') })
    api = new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, cluster.api)
    await api.create('/api/v1/namespaces/default/secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'word' },
      stringData: { word: 'before' },
    })
    await expectNodes('docker')
    before = await readStates(cluster.hosts, states)
  }, timeout)
  afterAll(async () => {
    api.close()
    await cluster[Symbol.asyncDispose]()
  }, timeout)

  test('the cluster can be adopted', { timeout }, async () => {
    const adopted = await cluster.adopt('--yes', '--no-lock')
    expect({ code: adopted.code, text: adopted.stdout + adopted.stderr }).toMatchObject({ code: 0 })
    const locked = await cluster.lock()
    expect({ code: locked.code, text: locked.stderr }).toMatchObject({ code: 0 })
    const untouched = compareStates(before, await readStates(cluster.hosts, states))
    expect(untouched.filter((line) => !ignored.test(line))).toEqual([])
  })

  test('up moves every host, and no acknowledged write is lost', { timeout }, async () => {
    await runUnderLoad('there: `hyperkube up`', 'up', '--yes')
    await expectNodes('containerd')
    for (const host of cluster.hosts) {
      const { stdout } = await host.script(
        'systemctl is-active hyperkube-agent kubelet containerd kube-proxy docker; pgrep -c "^(dockerd|cri-dockerd)" || true',
        { allowFailure: true },
      )
      expect(stdout, host.name).toBe('active\nactive\nactive\nactive\ninactive\n0\n')
    }
    const plan = await cluster.hyperkube('plan', '-f', file())
    expect({ code: plan.code, text: plan.stdout + plan.stderr }).toMatchObject({ code: 0 })
  })

  test('adopt rollback returns every host to what it was', { timeout }, async () => {
    await runUnderLoad('back: `hyperkube adopt rollback`', 'adopt', 'rollback', '--yes')
    await expectNodes('docker')
    const after = await readStates(cluster.hosts, states)
    expect(compareStates(before, after).filter((line) => !ignored.test(line))).toEqual([])
    const word = await api.get<{ data: { word: string } }>('/api/v1/namespaces/default/secrets/word')
    expect(Buffer.from(word.data.word, 'base64').toString()).toBe('before')
    await cluster.rke('up')
    const again = await readStates(cluster.hosts, {
      'containers of RKE1': states['containers of RKE1'],
    })
    expect(compareStates(again, after)).toEqual([])
  })

  test('after another move, the commit ends the way back', { timeout }, async () => {
    await runUnderLoad('there again: `hyperkube up`', 'up', '--yes')
    await runUnderLoad('`hyperkube adopt commit`', 'adopt', 'commit', '--yes')
    await expectNodes('containerd')
    expect(await cluster.hyperkube('adopt', 'rollback', '--yes', '-f', file())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ADOPT_COMMITTED'),
    })
    const plan = await cluster.hyperkube('plan', '-f', file())
    expect({ code: plan.code, text: plan.stdout + plan.stderr }).toMatchObject({ code: 0 })
    await writeFile(evidence, formatEvidence())
  })

  function formatEvidence(): string {
    const figures = rows.map(
      ({ change, seconds, reads, acknowledged, refused, lost }) =>
        `| ${change} | ${seconds.toFixed(0)} s | ${reads.requests} | ${reads.failed} | ${(reads.longestGapMs / 1000).toFixed(1)} s | ${acknowledged} | ${refused} | ${lost} |`,
    )
    return `# An RKE1 cluster moved to hyperkube and back, ${shape}

Written by \`test/full/adopt-rke.test.ts\` on ${new Date().toISOString().slice(0, 10)}: rke v1.8.14, Kubernetes ${rke1Versions.kubernetes}, etcd ${rke1Versions.etcd}, ${shape} hosts of the lab with Debian's
Docker, flannel as a DaemonSet of RKE1. The images of RKE1 contain upstream's programs; the scripts of rke-tools and the CNI plugin of flannel are
replaced by those of the lab. The machine has two cores, and other work shared it.

Clients read one object 20 times a second, from any API server, and create 5 objects a second at the first one, with one retry.

| change | time | reads | failed | longest gap | acknowledged writes | refused writes | lost |
|---|---|---|---|---|---|---|---|
${figures.join('\n')}

The test also shows:

- After the move, Docker and cri-dockerd do not run, and flannel's pods run in containerd on each node. \`hyperkube plan\` has no changes.
- After the way back, hosts had the same files in /etc, /opt, /usr/local, /root and /home, the same paths with owners and modes, the same users, units,
  programs with their arguments, and the same containers of RKE1 by id and restart policy. Not compared: files that programs for users rewrite (such as
  /etc/passwd-), /run, /tmp, /var/log, and the data of etcd, kubelets, containerd, Docker, CNI plugins and systemd.
- \`rke up\` succeeds then, and creates no container of RKE1 again.
- \`adopt rollback\` is refused after the commit.

Not shown: canal, workloads of users, several control planes, encrypted Secrets, cgroup v2, other versions of Docker, a power cut.
`
  }
})
