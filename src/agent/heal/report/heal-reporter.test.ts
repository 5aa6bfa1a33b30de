import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { componentOf, fileOf, planOf } from '../../../diff/testing/fixtures.ts'
import { type TestAnswer, type TestServer, testServer } from '../../../kit/testing/https-test-server.ts'
import { until } from '../../../kit/poll-until.ts'
import { type Authority, makeAuthority } from '../../../pki/ca.ts'
import { day } from '../../../pki/lifetime.ts'
import { makeRequest } from '../../../pki/request.ts'
import { signRequest } from '../../../pki/sign.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { putOn } from '../testing/heal-host.ts'
import { teller, type Teller } from './heal-reporter.ts'

let stack: AsyncDisposableStack
let host: TemporaryHost
let server: TestServer
let plan: NodePlan
let answer: () => TestAnswer
let said: string[]
const written: TestAnswer = { json: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' } } }

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  host = stack.use(await temporaryHost())
  const authority = await makeAuthority('kubernetes', 10 * day, new Date())
  const { certificate } = authority
  const [api, node] = [await issue(authority, 'api'), await issue(authority, 'system:node:w1')]
  answer = () => written
  const trust = { certificate, server: api, client: api, otherClient: api }
  server = stack.use(await testServer(trust, () => answer()))
  plan = planOf(kubelet(certificate), proxy(server.url))
  await putOn(host, '/etc/hyperkube/kubelet/client.crt', node.certificate)
  await putOn(host, '/etc/hyperkube/kubelet/client.key', node.privateKey)
  said = []
})
afterEach(async () => stack.disposeAsync())

async function issue(authority: Authority, commonName: string) {
  const subject = { commonName, organizations: [] }
  const names = { dns: [], ip: ['127.0.0.1'] }
  const { request, privateKey } = await makeRequest('test', subject, names)
  const wish = { subject, names, usages: ['server', 'client'] as const, lifetime: day }
  const certificate = await signRequest(authority, request, wish, new Date())
  return { certificate, privateKey: privateKey.revealText() }
}

function kubelet(authority: string): ComponentPlan {
  return componentOf({
    name: 'kubelet',
    files: [fileOf('/etc/hyperkube/kubelet/ca.crt', authority)],
    certificates: [
      {
        authority: 'kubernetes',
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
    authority: '/a',
    credentials: { certificate: '/b', privateKey: '/c' },
    memory: '/d',
  }
  return componentOf({
    name: 'apiserver-proxy',
    files: [fileOf('/etc/hyperkube/apiserver-proxy/config.json', JSON.stringify(config))],
  })
}

function tellerOf(current: NodePlan | undefined = plan): Teller {
  const over = new AbortController()
  stack.defer(() => over.abort())
  return teller({
    host,
    plan: async () => current,
    say: (text) => void said.push(text),
    signal: over.signal,
  })
}

function actionOf(more: Partial<HealAction> = {}): HealAction {
  return {
    at: host.clock.now().toISOString(),
    component: 'flanneld',
    action: 'restart',
    because: 'healthz: refused',
    code: 'HEALTH_NO_ANSWER',
    outcome: 'done',
    details: ['it was active, running'],
    ...more,
  }
}

async function asked(count: number): Promise<void> {
  await until('it to be told', async () => server.asked.length >= count, { within: 5000, every: 5 })
}

test('what was done is in the log, counted, and at the node, by the node itself', async () => {
  const { tell, counters } = tellerOf()
  tell(actionOf())
  expect(said).toEqual([
    'heal: restarted flanneld: healthz: refused (HEALTH_NO_ANSWER) (it was active, running)',
  ])
  expect(counters.actions).toEqual([
    { of: { component: 'flanneld', action: 'restart', outcome: 'done' }, count: 1 },
  ])
  await asked(1)
  expect(server.asked[0]).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    user: 'system:node:w1',
    body: {
      type: 'Warning',
      reason: 'HyperkubeRestarted',
      action: 'Heal',
      note: 'restarted flanneld: healthz: refused (HEALTH_NO_ANSWER)',
      reportingController: 'hyperkube.dev/agent',
      reportingInstance: 'w1',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'w1', uid: 'w1' },
    },
  })
})

test('what is done again and again is one event', async () => {
  const { tell } = tellerOf()
  tell(actionOf())
  tell(actionOf())
  await asked(2)
  expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'PATCH'])
})

test('while the API is away it waits, and is told in the end', async () => {
  answer = () => ({ status: 403, json: { kind: 'Status', reason: 'Forbidden', message: 'no' } })
  const { tell } = tellerOf()
  tell(actionOf())
  tell(actionOf({ action: 'recovered' }))
  await asked(3)
  answer = () => written
  const reasons = (): string[] =>
    server.asked.map(({ body }) => String(Reflect.get(Object(body), 'reason'))).slice(-2)
  await until('both', async () => reasons().includes('HyperkubeRecovered'), { within: 5000, every: 5 })
  expect(reasons()).toEqual(['HyperkubeRestarted', 'HyperkubeRecovered'])
})

test('what is old is no news', async () => {
  const { tell } = tellerOf()
  const long = new Date(host.clock.time - 2 * 3_600_000).toISOString()
  tell(actionOf({ at: long }))
  tell(actionOf({ action: 'give-up', code: 'HEAL_GAVE_UP' }))
  await asked(1)
  expect(server.asked[0]?.body).toMatchObject({ reason: 'HyperkubeGaveUp' })
})

test('a host that is no node tells nobody else, and nobody minds', async () => {
  const { tell } = tellerOf(planOf(componentOf({ name: 'etcd' })))
  tell(actionOf({ component: 'etcd' }))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(said).toHaveLength(1)
  expect(server.asked).toEqual([])
})

test('what was captured does not fill the log', () => {
  tellerOf().tell(actionOf({ action: 'capture-logs', details: ['kept in /x', 'a line', 'another'] }))
  expect(said[0]).toBe('heal: kept the log of flanneld: healthz: refused (HEALTH_NO_ANSWER) (kept in /x)')
})
