import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { dialFromPod, probe, type ProbePod, listProbePods } from '../../lab/bench/workload.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { listTraces } from '../../lab/hosts/cleanup.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { startKubectlCluster, type KubectlCluster } from '../support/kubectl-cluster.ts'
import { openFreshLab, noTraces } from '../support/lab.ts'

let lab: Lab
let cluster: KubectlCluster
let pods: ProbePod[]

beforeAll(async () => {
  lab = await openFreshLab('cluster')
  cluster = await startKubectlCluster(lab, '1+1')
  pods = await listProbePods(cluster.api)
})
afterAll(async () => {
  try {
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

test('both nodes are Ready and run Kubernetes 1.37.1', async () => {
  const { stdout } = await cluster.kubectl(['get', 'nodes', '--no-headers'])
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
  expect(rows.map(([name, state, , , version]) => [name, state, version])).toEqual([
    ['cp1', 'Ready', 'v1.37.1'],
    ['w1', 'Ready', 'v1.37.1'],
  ])
})

test('a pod runs on each node', () => {
  expect(pods.map(({ node }) => node).toSorted()).toEqual(['cp1', 'w1'])
})

describe('HTTP', () => {
  test('between pods on different hosts works in both directions', async () => {
    for (const from of pods) {
      for (const to of pods.filter((pod) => pod !== from)) {
        expect(await dialFromPod(cluster.api, from, to.address, probe.port)).toBe(to.name)
      }
    }
  })

  test('to the ClusterIP reaches every pod from every pod', async () => {
    const all = pods.map(({ name }) => name).toSorted()
    for (const from of pods) {
      const responders = new Set<string>()
      // kube-proxy programs an endpoint a moment after its pod runs; each connection picks a random endpoint.
      await pollUntil(
        `${from.name} to reach every pod`,
        async () => {
          responders.add((await dialFromPod(cluster.api, from, probe.clusterIP, 80)) ?? 'no answer')
          return responders.size >= all.length
        },
        { timeoutMs: 20_000, intervalMs: 20 },
      )
      expect([...responders].toSorted()).toEqual(all)
    }
  })

  test('to the NodePort is served at every host', async () => {
    for (const host of await lab.hosts()) {
      const response = await fetch(`http://${host.address}:${probe.nodePort}/hostname`)
      expect(pods.map(({ name }) => name)).toContain(await response.text())
    }
  })

  test('to services goes through the nftables table of kube-proxy', async () => {
    for (const host of await lab.hosts()) {
      const { stdout } = await host.exec(['nft', 'list', 'table', 'ip', 'kube-proxy'])
      expect(stdout).toContain(probe.clusterIP)
    }
  })
})

test('kubectl logs and exec reach pods on every node', async () => {
  for (const pod of pods) {
    const logs = await cluster.kubectl(['logs', pod.name])
    expect(`${logs.stdout}${logs.stderr}`).toContain('Started HTTP server')
    const { stdout } = await cluster.kubectl(['exec', pod.name, '--', 'hostname'])
    expect(stdout.trim()).toBe(pod.name)
  }
})

describe('a memory limit', () => {
  const pod = (name: string, command: readonly string[]): string =>
    stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        nodeName: 'w1',
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: testImage,
            imagePullPolicy: 'Never',
            command,
            resources: { limits: { memory: '64Mi', cpu: '500m' } },
          },
        ],
      },
    })
  const state = async (name: string, path: string): Promise<string> =>
    (await cluster.kubectl(['get', 'pod', name, '-o', `jsonpath={.status.${path}}`])).stdout

  test('ends the pod that exceeds it, and no other pod', async () => {
    await cluster.kubectl(['apply', '-f', '-'], pod('other', ['/agnhost', 'pause']))
    await pollUntil('the other pod to run', async () => (await state('other', 'phase')) === 'Running', {
      timeoutMs: 60_000,
    })
    await cluster.kubectl(
      ['apply', '-f', '-'],
      pod('eater', ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=200M', 'count=1']),
    )
    await pollUntil('the eater to end', async () => (await state('eater', 'phase')) === 'Failed', {
      timeoutMs: 60_000,
    })
    const ended = 'containerStatuses[0].state.terminated'
    expect(await state('eater', `${ended}.reason`)).toBe('OOMKilled')
    expect(await state('eater', `${ended}.exitCode`)).toBe('137')
    expect(await state('other', 'phase')).toBe('Running')
    expect(await state('other', 'containerStatuses[0].restartCount')).toBe('0')
  })
})

describe('cgroups', () => {
  const listPodCgroups = async (hostName: string): Promise<string[]> => {
    const host = await lab.host(hostName)
    const { stdout } = await host.script(`find /sys/fs/cgroup/memory -type d -name 'pod*-*' -printf '%f\\n'`)
    return stdout.trim().split('\n').toSorted()
  }

  test('of a host contain only pods of its own node', async () => {
    const { items } = await cluster.api.get<{
      items: { metadata: { uid: string }; spec: { nodeName: string }; status: { phase: string } }[]
    }>('/api/v1/pods')
    const groups = (wanted: typeof items): string[] => wanted.map(({ metadata }) => `pod${metadata.uid}`)
    for (const node of ['cp1', 'w1']) {
      const cgroups = await listPodCgroups(node)
      const own = items.filter(({ spec }) => spec.nodeName === node)
      expect(cgroups).toEqual(
        expect.arrayContaining(groups(own.filter(({ status }) => status.phase === 'Running'))),
      )
      // An ended pod may still have a cgroup. So pods in all phases are compared here: every cgroup must
      // belong to a pod of this node.
      expect(groups(own)).toEqual(expect.arrayContaining(cgroups))
    }
  })

  test('of an orphaned pod are deleted by the kubelet of their own host only', async () => {
    const [cp1, w1] = await Promise.all([lab.host('cp1'), lab.host('w1')])
    const orphan = 'pod00000000-0000-4000-8000-000000000000'
    const createCommand = `mkdir /sys/fs/cgroup/memory/kubepods/besteffort/${orphan}`
    // Only the kubelet of the worker is stopped; the kubelet of the control plane keeps running.
    await w1.exec(['systemctl', 'stop', 'kubelet'])
    try {
      await w1.script(createCommand)
      await cp1.script(createCommand)
      await pollUntil(
        'cp1’s kubelet to delete the orphan',
        async () => !(await listPodCgroups('cp1')).includes(orphan),
        {
          timeoutMs: 60_000,
          intervalMs: 250,
        },
      )
      expect(await listPodCgroups('w1')).toContain(orphan)
    } finally {
      await w1.exec(['systemctl', 'start', 'kubelet'])
    }
  })
})

test('a host powers off within 30 s, because its services stop in order', async () => {
  const host = await lab.host('cp1')
  const started = performance.now()
  await host.exec(['systemctl', 'poweroff'], { allowFailure: true })
  await pollUntil('the host to be off', async () => !(await host.isRunning()), { timeoutMs: 80_000 })
  expect(performance.now() - started).toBeLessThan(30_000)
})

test('down removes everything of a cluster', async () => {
  await lab.down()
  expect(await listTraces(lab.name, lab.network)).toEqual(noTraces)
})
