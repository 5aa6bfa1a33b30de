import { once } from 'node:events'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { Remote } from '../../ssh/remote.ts'
import { listClusterEndpoints, listPlannedEndpoints } from '../inputs/host-endpoints.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { controllerPorts } from './controller-health.ts'
import { dialThroughHosts } from './connections.ts'
import { createClusterClient } from './create-cluster-client.ts'

const { plans } = planCluster(
  buildPlanInput(
    buildTestCluster(
      '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
      '{ name: w1, address: 10.0.0.2, roles: [worker] }',
    ),
  ),
)
const now = new Date()
const healthy = { status: 200, text: 'ok' }

let identity: Identity
let otherIdentity: Identity
beforeAll(async () => {
  identity = await createIdentity('shop', now)
  otherIdentity = await createIdentity('shop', now)
})

interface ControllerResponse {
  readonly status: number
  readonly text: string
}

/** Starts a server with a certificate of the cluster for these names. Returns its port. */
async function startServer(
  { cas }: Identity,
  names: { readonly dns: readonly string[]; readonly ip: readonly string[] },
  { status, text }: ControllerResponse,
  onRequest: (method: string, path: string) => void,
): Promise<number> {
  const subject = { commonName: 'controller', organizations: [] }
  const { request, privateKey } = await makeRequest('controller', subject, names)
  const spec = { subject, names, usages: ['server' as const], lifetime: 3_600_000 }
  const cert = await signRequest(cas.kubernetes, request, spec, now)
  const server = createServer(
    { cert, key: privateKey.revealText() },
    ({ method = '', url = '' }, response) => {
      onRequest(method, url)
      response.writeHead(status).end(text)
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** Responses of the two controllers. A controller without a response refuses connections. */
interface ControllerResponses {
  readonly 'kube-controller-manager'?: ControllerResponse
  readonly 'kube-scheduler'?: ControllerResponse
}

async function checkHost(host: string, responses: ControllerResponses, servedBy = identity) {
  const dialled: string[] = []
  const requests: string[] = []
  const localPorts = new Map<number, number>()
  for (const [component, response] of Object.entries(responses)) {
    const port = await startServer(servedBy, { dns: [], ip: ['127.0.0.1'] }, response, (method, path) =>
      requests.push(`${component} ${method} ${path}`),
    )
    localPorts.set(controllerPorts[component] ?? 0, port)
  }
  const dial: Remote['dial'] = async (address, port) => {
    dialled.push(`${address}:${port}`)
    const localPort = localPorts.get(port)
    if (localPort === undefined) throw new HyperkubeError('SSH_DIAL_REFUSED', 'connection refused', { host })
    return connect(localPort, '127.0.0.1')
  }
  const { remote } = scriptedSession(host, { run: successfulRun, requests: [], remote: { dial } })
  using client = await createClusterClient(listPlannedEndpoints(plans), {
    identity,
    operator: 'ana',
    apiPort: 6443,
    findRemote: async () => remote,
    now,
    signal: new AbortController().signal,
  })
  return {
    reason: await client.controllersReady(host),
    dialled: dialled.toSorted(),
    requests: requests.toSorted(),
  }
}

describe('hosts whose addresses are in no file', () => {
  const cluster = buildTestCluster(
    '{ name: cp1, address: cp1.example, roles: [control-plane] }',
    "{ name: cp2, address: 'fd00::12', interface: eth0, roles: [control-plane] }",
  )

  test('their API servers and etcd members are reached on loopback, and proven by the names of the hosts', async () => {
    const names = { dns: ['cp1', 'cp2'], ip: [] }
    const port = await startServer(identity, names, healthy, () => undefined)
    const dialled: string[] = []
    const dial: Remote['dial'] = async (address, dialledPort) => {
      dialled.push(`${address} ${dialledPort}`)
      if (dialledPort === 6443) return connect(port, '127.0.0.1')
      throw new HyperkubeError('SSH_DIAL_REFUSED', 'connection refused', { host: 'cp1' })
    }
    using client = await openClient(dial)
    expect(await client.apiReady(['cp1', 'cp2'])).toBeUndefined()
    expect(await client.etcdHealthy(['cp1'])).toEqual(expect.any(String))
    expect(new Set(dialled)).toEqual(new Set(['127.0.0.1 6443', '127.0.0.1 2379']))
  })

  test('addresses that only etcd knows are dialled from a reachable host', async () => {
    const { remote } = scriptedSession('cp2', { run: successfulRun, requests: [], remote: { dial: refuse } })
    const endpoints = listClusterEndpoints(cluster)
    const dial = dialThroughHosts(endpoints, async (host) => (host === 'cp2' ? remote : undefined))
    await expect(dial('10.0.0.1', 2379, signal)).rejects.toMatchObject({ message: 'cp2 10.0.0.1 2379' })
    const isolated = dialThroughHosts(endpoints, async () => undefined)
    await expect(isolated('10.0.0.1', 2379, signal)).rejects.toMatchObject({ code: 'SSH_UNREACHABLE' })
    const known = endpoints.map((endpoint) => ({ ...endpoint, address: `${endpoint.host}.example` }))
    const other = dialThroughHosts(known, async () => remote)
    await expect(other('10.9.9.9', 2379, signal)).rejects.toMatchObject({ code: 'SSH_UNREACHABLE' })
  })

  const { signal } = new AbortController()
  const refuse: Remote['dial'] = async (address, port) => {
    throw new HyperkubeError('SSH_DIAL_REFUSED', `cp2 ${address} ${port}`, { host: 'cp2' })
  }

  async function openClient(dial: Remote['dial']) {
    const { remote } = scriptedSession('cp1', { run: successfulRun, requests: [], remote: { dial } })
    return createClusterClient(listClusterEndpoints(cluster), {
      identity,
      operator: 'ana',
      apiPort: 6443,
      findRemote: async () => remote,
      now,
      signal,
    })
  }
})

test('the controllers of a host are ready if both are healthy on its loopback address', async () => {
  const { reason, dialled, requests } = await checkHost('cp1', {
    'kube-controller-manager': healthy,
    'kube-scheduler': healthy,
  })
  expect(reason).toBeUndefined()
  expect(dialled).toEqual(['127.0.0.1:10257', '127.0.0.1:10259'])
  expect(requests).toEqual(['kube-controller-manager GET /healthz', 'kube-scheduler GET /healthz'])
})

test('an unhealthy controller is reported with its failing checks or its status code', async () => {
  const text = '[+]ping ok\n[-]leaderElection failed: reason withheld\nhealthz check failed\n'
  const { reason } = await checkHost('cp1', {
    'kube-controller-manager': healthy,
    'kube-scheduler': { status: 500, text },
  })
  expect(reason).toBe('kube-scheduler fails the checks leaderElection')
  const unclear = await checkHost('cp1', {
    'kube-controller-manager': { status: 401, text: 'Unauthorized' },
    'kube-scheduler': healthy,
  })
  expect(unclear.reason).toBe('kube-controller-manager returns status 401')
})

test('a controller that refuses connections is not ready', async () => {
  const { reason } = await checkHost('cp1', { 'kube-scheduler': healthy })
  expect(reason).toContain('kube-controller-manager: no connection')
  expect(reason).toContain('connection refused')
  expect(reason).not.toContain('kube-scheduler')
})

test('a controller with a certificate of another CA is not ready', async () => {
  const responses = { 'kube-controller-manager': healthy, 'kube-scheduler': healthy }
  const { reason, requests } = await checkHost('cp1', responses, otherIdentity)
  expect(reason).toContain('kube-controller-manager: its certificate is not signed by the CA of the cluster')
  expect(requests).toEqual([])
})

test('a host without controllers counts as ready', async () => {
  expect(await checkHost('w1', {})).toEqual({ reason: undefined, dialled: [], requests: [] })
})

test('the checked URLs are those that the plan probes', () => {
  const [controlPlane] = plans
  const urls = (controlPlane?.components ?? []).flatMap(({ name, probes }) =>
    probes.flatMap(({ check }) =>
      name in controllerPorts && check.kind === 'http' ? [[name, check.url]] : [],
    ),
  )
  expect(urls).toEqual(
    Object.entries(controllerPorts).map(([name, port]) => [name, `https://127.0.0.1:${port}/healthz`]),
  )
})
