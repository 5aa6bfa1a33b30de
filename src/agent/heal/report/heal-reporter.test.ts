import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { buildComponent, buildFile, buildPlan } from '../../../diff/testing/fixtures.ts'
import {
  type TestResponse,
  type HttpsTestServer,
  startHttpsTestServer,
} from '../../../kit/testing/https-test-server.ts'
import { pollUntil } from '../../../kit/poll.ts'
import { type Ca, createCa } from '../../../pki/ca.ts'
import { day } from '../../../pki/lifetime.ts'
import { makeRequest } from '../../../pki/request.ts'
import { signRequest } from '../../../pki/sign.ts'
import { type TemporaryHost, createTemporaryHost } from '../../host/testing/temporary-host.ts'
import { writeHostFile } from '../testing/heal-host.ts'
import { createHealReporter, type HealReporter } from './heal-reporter.ts'

let stack: AsyncDisposableStack
let host: TemporaryHost
let server: HttpsTestServer
let plan: NodePlan
let respond: () => TestResponse
let logged: string[]
const written: TestResponse = { json: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } } }

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  host = stack.use(await createTemporaryHost())
  const ca = await createCa('kubernetes', 10 * day, new Date())
  const { certificate } = ca
  const [api, node] = [await issue(ca, 'api'), await issue(ca, 'system:node:w1')]
  respond = () => written
  const trust = { certificate, server: api, client: api, otherClient: api }
  server = stack.use(await startHttpsTestServer(trust, () => respond()))
  plan = buildPlan(kubelet(certificate), proxy(server.url))
  await writeHostFile(host, '/etc/hyperkube/kubelet/client.crt', node.certificate)
  await writeHostFile(host, '/etc/hyperkube/kubelet/client.key', node.privateKey)
  logged = []
})
afterEach(async () => stack.disposeAsync())

async function issue(ca: Ca, commonName: string) {
  const subject = { commonName, organizations: [] }
  const names = { dns: [], ip: ['127.0.0.1'] }
  const { request, privateKey } = await makeRequest('test', subject, names)
  const spec = { subject, names, usages: ['server', 'client'] as const, lifetime: day }
  const certificate = await signRequest(ca, request, spec, new Date())
  return { certificate, privateKey: privateKey.revealText() }
}

function kubelet(ca: string): ComponentPlan {
  return buildComponent({
    name: 'kubelet',
    files: [buildFile('/etc/hyperkube/kubelet/ca.crt', ca)],
    certificates: [
      {
        ca: 'kubernetes',
        subject: { commonName: 'system:node:w1', organizations: ['system:nodes'] },
        names: { dns: [], ip: [] },
        usages: ['client'],
        lifetime: 1,
        owner: 'root',
        certificateFile: '/etc/hyperkube/kubelet/client.crt',
        keyFile: '/etc/hyperkube/kubelet/client.key',
      },
    ],
  })
}

function proxy(url: string): ComponentPlan {
  const config = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ApiserverProxyConfiguration',
    listen: url.replace('https://', ''),
    health: '127.0.0.1:6445',
    servers: ['127.0.0.1:6443'],
    caFile: '/a',
    credentials: { certificate: '/b', privateKey: '/c' },
    stateFile: '/d',
  }
  return buildComponent({
    name: 'apiserver-proxy',
    files: [buildFile('/etc/hyperkube/apiserver-proxy/config.json', JSON.stringify(config))],
  })
}

function startReporter(current: NodePlan | undefined = plan): HealReporter {
  const over = new AbortController()
  stack.defer(() => over.abort())
  return createHealReporter({
    host,
    plan: async () => current,
    log: (text) => void logged.push(text),
    signal: over.signal,
  })
}

function buildAction(more: Partial<HealAction> = {}): HealAction {
  return {
    at: host.clock.now().toISOString(),
    component: 'flanneld',
    action: 'restart',
    because: 'healthz: refused',
    code: 'HEALTH_NO_RESPONSE',
    outcome: 'done',
    details: ['it was active, running'],
    ...more,
  }
}

async function waitForRequests(count: number): Promise<void> {
  await pollUntil('the requests', async () => server.requests.length >= count, {
    timeoutMs: 5000,
    intervalMs: 5,
  })
}

test('an action is logged, counted and recorded as an event of its node', async () => {
  const { report, counters } = startReporter()
  report(buildAction())
  expect(logged).toEqual([
    'heal: restarted flanneld: healthz: refused (HEALTH_NO_RESPONSE) (it was active, running)',
  ])
  expect(counters.actions).toEqual([
    { labels: { component: 'flanneld', action: 'restart', outcome: 'done' }, count: 1 },
  ])
  await waitForRequests(1)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    user: 'system:node:w1',
    body: {
      type: 'Warning',
      reason: 'HyperkubeRestarted',
      action: 'Heal',
      note: 'restarted flanneld: healthz: refused (HEALTH_NO_RESPONSE)',
      reportingController: 'hyperkube.dev/agent',
      reportingInstance: 'w1',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'w1', uid: 'w1' },
    },
  })
})

test('a repeated action is one event with a count', async () => {
  const { report } = startReporter()
  report(buildAction())
  report(buildAction())
  await waitForRequests(2)
  expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH'])
})

test('events wait while the API is unreachable, and are recorded in the end', async () => {
  respond = () => ({ status: 403, json: { kind: 'Status', reason: 'Forbidden', message: 'no' } })
  const { report } = startReporter()
  report(buildAction())
  report(buildAction({ action: 'recovered' }))
  await waitForRequests(3)
  respond = () => written
  const reasons = (): string[] =>
    server.requests.map(({ body }) => String(Reflect.get(Object(body), 'reason'))).slice(-2)
  await pollUntil('both', async () => reasons().includes('HyperkubeRecovered'), {
    timeoutMs: 5000,
    intervalMs: 5,
  })
  expect(reasons()).toEqual(['HyperkubeRestarted', 'HyperkubeRecovered'])
})

test('an action of two hours ago is not recorded as an event', async () => {
  const { report } = startReporter()
  const longAgo = new Date(host.clock.time - 2 * 3_600_000).toISOString()
  report(buildAction({ at: longAgo }))
  report(buildAction({ action: 'give-up', code: 'HEAL_EXHAUSTED' }))
  await waitForRequests(1)
  expect(server.requests[0]?.body).toMatchObject({ reason: 'HyperkubeHealExhausted' })
})

test('a host that is no node records no event, and does not fail', async () => {
  const { report } = startReporter(buildPlan(buildComponent({ name: 'etcd' })))
  report(buildAction({ component: 'etcd' }))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(logged).toHaveLength(1)
  expect(server.requests).toEqual([])
})

test('captured log lines are not written to the log of the agent', () => {
  startReporter().report(
    buildAction({ action: 'capture-logs', details: ['saved in /x', 'a line', 'another'] }),
  )
  expect(logged[0]).toBe(
    'heal: saved the log of flanneld: healthz: refused (HEALTH_NO_RESPONSE) (saved in /x)',
  )
})
