import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dial, probe, type ProbePod, probePods, probeWorkload } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/until.ts'
import { freshLab } from '../support/lab.ts'
import { type UpCluster, upCluster } from '../support/up-cluster.ts'

const never = new AbortController().signal

describe.each([
  ['1+1', '1.36.4'],
  ['3+2', '1.37.1'],
])('hyperkube up, %s, Kubernetes %s', (shape, kubernetes) => {
  let lab: Lab
  let cluster: UpCluster
  let pods: ProbePod[]

  beforeAll(async () => {
    lab = await freshLab('up')
    cluster = await upCluster(lab, shape, kubernetes)
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await lab.down()
    }
  })

  test('all nodes are Ready and run this Kubernetes', async () => {
    const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
    const seen = items.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.find(({ type }) => type === 'Ready')?.status,
      status.nodeInfo.kubeletVersion,
    ])
    expect(seen).toEqual(cluster.hosts.map(({ name }) => [name, 'True', `v${kubernetes}`]))
  })

  test('every member of etcd is well', async () => {
    const [first] = cluster.hosts
    const controlPlanes = cluster.hosts.filter(({ name }) => name.startsWith('cp'))
    const text = await script(
      first,
      'cd /etc/hyperkube/etcd; /opt/hyperkube/etcd-*/etcdctl --cacert=ca.crt --cert=client.crt --key=client.key endpoint health --cluster 2>&1',
    )
    expect(text.trim().split('\n')).toHaveLength(controlPlanes.length)
    for (const line of text.trim().split('\n')) expect(line).toContain('is healthy')
  })

  test('a pod runs on each node, with an image that was pulled; pods hear each other across hosts', async () => {
    await probeWorkload(cluster.api, never)
    pods = await until(
      'a pod on each node',
      async () => {
        const found = await probePods(cluster.api)
        return found.length === cluster.hosts.length && found
      },
      { within: 120_000 },
    )
    for (const from of pods) {
      for (const to of pods.filter((pod) => pod !== from)) {
        expect(await dial(cluster.api, from, to.address, probe.port)).toBe(to.name)
      }
    }
  })

  test('a service answers from every pod', async () => {
    const names = pods.map(({ name }) => name)
    for (const from of pods) {
      const answer = await until(
        `the service to answer ${from.name}`,
        async () => dial(cluster.api, from, probe.clusterIP, 80),
        { within: 30_000 },
      )
      expect(names).toContain(answer)
    }
  })

  test('logs come through kubelets whose certificates the API server verifies', async () => {
    for (const { name } of pods) {
      expect(await cluster.api.text(`/api/v1/namespaces/default/pods/${name}/log`)).toContain('Started HTTP')
    }
  })

  test('a second up has nothing to do', async () => {
    const began = performance.now()
    const { code, stderr } = await cluster.hyperkube('up', '--yes')
    process.stderr.write(`a second up: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
    expect(code).toBe(0)
    expect(stderr).toContain('nothing to do')
  })

  test('what drifted is mended, and nothing else is touched', async () => {
    const [first] = cluster.hosts
    const before = await starts(first)
    await script(
      first,
      'rm /etc/hyperkube/kubelet/kubeconfig; systemctl stop kube-scheduler; echo hello > /etc/hyperkube/stray; chmod 644 /etc/hyperkube/kube-proxy/config.yaml',
    )
    const { code, stderr } = await cluster.hyperkube('up', '--yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining('kube-scheduler')])
    const mended = await script(
      first,
      'ls /etc/hyperkube/stray 2>/dev/null || true; stat -c %a /etc/hyperkube/kubelet/kubeconfig /etc/hyperkube/kube-proxy/config.yaml; systemctl is-active kube-scheduler',
    )
    expect(mended).toBe('600\n600\nactive\n')
    const after = await starts(first)
    for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'containerd', 'flanneld']) {
      expect(after.get(name), name).toBe(before.get(name))
    }
  })

  test('no secret is in what it said, and none can be read by others on a host', async () => {
    expect(cluster.first.stderr + cluster.first.stdout).not.toContain('PRIVATE KEY')
    for (const host of cluster.hosts) {
      const open = await script(
        host,
        'grep -rlE "PRIVATE KEY|secretbox" /etc/hyperkube /var/lib/hyperkube /var/log/hyperkube 2>/dev/null | xargs -r stat -c "%a %n" | grep -v "^600 " || true; journalctl --no-pager | grep -c "PRIVATE KEY" || true',
      )
      expect(open, host.name).toBe('0\n')
    }
  })
})

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: {
      readonly conditions: readonly { readonly type: string; readonly status: string }[]
      readonly nodeInfo: { readonly kubeletVersion: string }
    }
  }[]
}

async function script(host: Host | undefined, text: string): Promise<string> {
  if (host === undefined) throw new Error('there is no host')
  return (await host.script(text, { allowFailure: true })).stdout
}

const services = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'containerd', 'flanneld']

/** When each service has started. */
async function starts(host: Host | undefined): Promise<ReadonlyMap<string, string>> {
  const text = await script(
    host,
    services.map((name) => `systemctl show -p ExecMainStartTimestampMonotonic --value ${name}`).join('\n'),
  )
  const times = text.trim().split('\n')
  return new Map(services.map((name, index) => [name, times[index] ?? '']))
}
