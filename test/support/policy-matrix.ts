import { expect } from 'vitest'
import { probe } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { toIpv6Address } from '../../lab/hosts/names.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { DualStackPod } from './dual-stack.ts'
import {
  buildMatrixRows,
  families,
  type Family,
  type MatrixRow,
  type Port,
  ports,
  type Source,
  sources,
} from './policy-matrix-rows.ts'
import type { UpCluster } from './up-cluster.ts'

const namespaces = '/api/v1/namespaces'
const policiesPath = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'
const nodePorts: Readonly<Record<Port, number>> = { web: 30081, admin: 30082 }

/** One possible connection to the guarded pod. */
interface Connection {
  readonly source: Source
  readonly port: Port
  readonly family: Family
}

export interface MatrixResult {
  readonly row: MatrixRow
  /** Seconds from the creation of the policies until exactly the allowed connections succeed. */
  readonly seconds: number
}

const connections: readonly Connection[] = sources.flatMap((source) =>
  families.flatMap((family) => (['web', 'admin'] as const).map((port) => ({ source, port, family }))),
)
export const connectionCount = connections.length

/** Tries all connections under each row of the matrix, and expects exactly the allowed ones. */
export async function runPolicyMatrix(
  { api, hosts, lab }: Pick<UpCluster, 'api' | 'hosts' | 'lab'>,
  probes: readonly DualStackPod[],
): Promise<readonly MatrixResult[]> {
  const target = hosts.find(({ name }) => name === 'w1')
  const [sameNode, otherNode] = [
    probes.find(({ node }) => node === 'w1'),
    probes.find(({ node }) => node === 'w2'),
  ]
  if (target === undefined || sameNode === undefined || otherNode === undefined)
    throw new Error('the matrix needs probe pods on w1 and w2')
  await createPods(api)
  const addresses = await readAddresses(api)
  const tryConnection = async ({ source, port, family }: Connection): Promise<boolean> => {
    if (source === 'outside') {
      const host = family === 'IPv4' ? target.address : `[${toIpv6Address(target.address)}]`
      return curl(`http://${host}:${nodePorts[port]}/hostname`)
    }
    const from = {
      'same node': `default/pods/${sameNode.name}`,
      'other node': `default/pods/${otherNode.name}`,
      'other namespace': 'other/pods/other',
    }[source]
    const query = `dial?host=${addresses[family]}&port=${ports[port]}&request=hostname&protocol=http&tries=1`
    const { responses } = await api.get<{ responses?: string[] }>(
      `${namespaces}/${from}:${probe.port}/proxy/${query}`,
    )
    return responses?.[0] === 'guarded'
  }
  const results: MatrixResult[] = []
  for (const row of buildMatrixRows({
    ipv4: `${lab.gateway}/32`,
    ipv6: `${toIpv6Address(lab.gateway)}/128`,
  })) {
    const began = performance.now()
    const names = row.policies.map((_, index) => `matrix-${index}`)
    for (const [index, spec] of row.policies.entries())
      await api.create(policiesPath, {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: names[index] },
        spec,
      })
    const expected = connections.filter(({ source, port, family }) => row.allows(source, port, family))
    await pollUntil(
      `exactly ${expected.length} connections with ${row.name}`,
      async () => equals(await findAllowed(tryConnection), expected),
      { timeoutMs: 60_000, intervalMs: 100 },
    ).catch(async (error: unknown) => {
      // Shows which connections differ.
      expect(await findAllowed(tryConnection), row.name).toEqual(expected)
      throw error
    })
    results.push({ row, seconds: (performance.now() - began) / 1000 })
    // The result must also hold afterwards.
    expect(await findAllowed(tryConnection), row.name).toEqual(expected)
    for (const name of names) await api.remove(`${policiesPath}/${name}`)
  }
  // Pods without a controller would prevent later drains.
  for (const path of ['default/services/guarded', 'default/pods/guarded', 'other/pods/other', 'other'])
    await api.remove(`${namespaces}/${path}`)
  return results
}

async function findAllowed(
  tryConnection: (connection: Connection) => Promise<boolean>,
): Promise<readonly Connection[]> {
  const found = await settleAll(connections.map(async (connection) => tryConnection(connection)))
  return connections.filter((_, index) => found[index])
}

function equals(found: readonly Connection[], expected: readonly Connection[]): boolean {
  return found.length === expected.length && found.every((connection) => expected.includes(connection))
}

/** Requests a URL from the machine that runs the lab. */
async function curl(url: string): Promise<boolean> {
  const { stdout } = await runProgram(['curl', '-gsS', '-m', '2', url], { allowFailure: true })
  return stdout.trim() === 'guarded'
}

/** Creates the guarded pod with its node ports, and a client in another namespace. */
async function createPods(api: KubeApi): Promise<void> {
  await api.ensure(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await pollUntil(
    'the service account of the namespace other',
    async () =>
      api.get(`${namespaces}/other/serviceaccounts/default`).then(
        () => true,
        () => false,
      ),
    { timeoutMs: 90_000 },
  )
  const webServer = (name: string, port: number): object => ({
    name,
    image: testImage,
    imagePullPolicy: 'IfNotPresent',
    args: ['netexec', `--http-port=${port}`, `--udp-port=${port}`],
    ports: [{ name, containerPort: port }],
  })
  const pod = (name: string, node: string, containers: readonly object[]): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers,
    },
  })
  const guarded = [webServer('web', ports.web), webServer('admin', ports.admin)]
  await api.ensure(`${namespaces}/default/pods`, pod('guarded', 'w1', guarded))
  await api.ensure(`${namespaces}/other/pods`, pod('other', 'w2', [webServer('web', probe.port)]))
  await api.ensure(`${namespaces}/default/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'guarded' },
    spec: {
      type: 'NodePort',
      // Keeps the address of the client, so that policies can select it.
      externalTrafficPolicy: 'Local',
      ipFamilyPolicy: 'RequireDualStack',
      selector: { app: 'guarded' },
      ports: (['web', 'admin'] as const).map((name) => ({
        name,
        port: ports[name],
        targetPort: name,
        nodePort: nodePorts[name],
      })),
    },
  })
}

async function readAddresses(api: KubeApi): Promise<Readonly<Record<Family, string>>> {
  return pollUntil(
    'both pods to run',
    async () => {
      const [guarded, other] = await settleAll(
        ['default/pods/guarded', 'other/pods/other'].map(async (path) =>
          api.get<{ status: { phase: string; podIPs?: { ip: string }[] } }>(`${namespaces}/${path}`),
        ),
      )
      const [ipv4, ipv6] = guarded?.status.podIPs ?? []
      if (guarded?.status.phase !== 'Running' || other?.status.phase !== 'Running') return false
      return ipv4 !== undefined && ipv6 !== undefined && { IPv4: ipv4.ip, IPv6: ipv6.ip }
    },
    { timeoutMs: 120_000 },
  )
}
