import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { testImage } from '../../lab/cluster/artifacts.ts'
import { dial, probe, type ProbePod, probePods } from '../../lab/bench/workload.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { traces } from '../../lab/hosts/cleanup.ts'
import { until } from '../../src/kit/poll-until.ts'
import { bareCluster, type Cluster } from '../support/kubectl-cluster.ts'
import { freshLab, noTraces } from '../support/lab.ts'

let lab: Lab
let cluster: Cluster
let pods: ProbePod[]

beforeAll(async () => {
  lab = await freshLab('cluster')
  cluster = await bareCluster(lab, '1+1')
  pods = await probePods(cluster.api)
})
afterAll(async () => {
  try {
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

test('both nodes are Ready and run this Kubernetes', async () => {
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
  test('from pod to pod across hosts, both ways', async () => {
    for (const from of pods) {
      for (const to of pods.filter((pod) => pod !== from)) {
        expect(await dial(cluster.api, from, to.address, probe.port)).toBe(to.name)
      }
    }
  })

  test('to the ClusterIP reaches every pod from every pod', async () => {
    const all = pods.map(({ name }) => name).toSorted()
    for (const from of pods) {
      const answered = new Set<string>()
      // kube-proxy learns of an endpoint a moment after its pod runs; each call picks one at random.
      await until(
        `${from.name} to hear every pod`,
        async () => {
          answered.add((await dial(cluster.api, from, probe.clusterIP, 80)) ?? 'no answer')
          return answered.size >= all.length
        },
        { within: 20_000, every: 20 },
      )
      expect([...answered].toSorted()).toEqual(all)
    }
  })

  test('to the NodePort is answered at every host', async () => {
    for (const host of await lab.hosts()) {
      const answer = await fetch(`http://${host.address}:${probe.nodePort}/hostname`)
      expect(pods.map(({ name }) => name)).toContain(await answer.text())
    }
  })

  test('goes over nftables: the service is in kube-proxy’s table', async () => {
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

  test('ends the pod that takes more, and not its neighbour', async () => {
    await cluster.kubectl(['apply', '-f', '-'], pod('neighbour', ['/agnhost', 'pause']))
    await until('the neighbour to run', async () => (await state('neighbour', 'phase')) === 'Running', {
      within: 60_000,
    })
    await cluster.kubectl(
      ['apply', '-f', '-'],
      pod('eater', ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=200M', 'count=1']),
    )
    await until('the eater to end', async () => (await state('eater', 'phase')) === 'Failed', {
      within: 60_000,
    })
    const ended = 'containerStatuses[0].state.terminated'
    expect(await state('eater', `${ended}.reason`)).toBe('OOMKilled')
    expect(await state('eater', `${ended}.exitCode`)).toBe('137')
    expect(await state('neighbour', 'phase')).toBe('Running')
    expect(await state('neighbour', 'containerStatuses[0].restartCount')).toBe('0')
  })
})

describe('cgroups', () => {
  const podsSeen = async (hostName: string): Promise<string[]> => {
    const host = await lab.host(hostName)
    const { stdout } = await host.script(`find /sys/fs/cgroup/memory -type d -name 'pod*-*' -printf '%f\\n'`)
    return stdout.trim().split('\n').toSorted()
  }

  test('no kubelet sees another host’s pods', async () => {
    const { items } = await cluster.api.get<{
      items: { metadata: { uid: string }; spec: { nodeName: string }; status: { phase: string } }[]
    }>('/api/v1/pods')
    const groups = (wanted: typeof items): string[] => wanted.map(({ metadata }) => `pod${metadata.uid}`)
    for (const node of ['cp1', 'w1']) {
      const seen = await podsSeen(node)
      const own = items.filter(({ spec }) => spec.nodeName === node)
      expect(seen).toEqual(
        expect.arrayContaining(groups(own.filter(({ status }) => status.phase === 'Running'))),
      )
      // A pod that has ended keeps its cgroup for a while, so not all of them need be there.
      expect(groups(own)).toEqual(expect.arrayContaining(seen))
    }
  })

  test('a pod’s cgroup that one kubelet does not know is deleted by it, and only by it', async () => {
    const [cp1, w1] = await Promise.all([lab.host('cp1'), lab.host('w1')])
    const stray = 'pod00000000-0000-4000-8000-000000000000'
    const make = `mkdir /sys/fs/cgroup/memory/kubepods/besteffort/${stray}`
    // On the worker no kubelet looks for the moment; on the control plane one does.
    await w1.exec(['systemctl', 'stop', 'kubelet'])
    try {
      await w1.script(make)
      await cp1.script(make)
      await until('cp1’s kubelet to delete the stray', async () => !(await podsSeen('cp1')).includes(stray), {
        within: 60_000,
        every: 250,
      })
      expect(await podsSeen('w1')).toContain(stray)
    } finally {
      await w1.exec(['systemctl', 'start', 'kubelet'])
    }
  })
})

test('a host that goes down politely does so at once: every service stops in the right order', async () => {
  const host = await lab.host('cp1')
  const started = performance.now()
  await host.exec(['systemctl', 'poweroff'], { allowFailure: true })
  await until('the host to be off', async () => !(await host.isRunning()), { within: 80_000 })
  expect(performance.now() - started).toBeLessThan(30_000)
})

test('down leaves nothing of a whole cluster behind', async () => {
  await lab.down()
  expect(await traces(lab.name, lab.network)).toEqual(noTraces)
})
