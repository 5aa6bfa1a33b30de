import { afterEach, beforeEach, expect, test } from 'vitest'
import { fakeEtcd } from '../../etcd/testing/fake-etcd.ts'
import type { Ca } from '../../pki/ca.ts'
import { day } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { watchPlan } from '../heal/watch-host.ts'
import { renewLocalCertificates } from '../renewal/renew-local.ts'
import { RenewalTestCluster } from '../renewal/testing/renewal-cluster.ts'
import { createLocalEtcdReader } from './local-etcd.ts'

let stack: AsyncDisposableStack
let cluster: RenewalTestCluster
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  cluster = stack.use(await RenewalTestCluster.create())
})
afterEach(async () => stack.disposeAsync())

const signal = new AbortController().signal

async function createServerCertificates(ca: Ca) {
  const subject = { commonName: 'etcd', organizations: [] }
  const names = { dns: [], ip: ['127.0.0.1'] }
  const { request, privateKey } = await makeRequest('test', subject, names)
  const spec = { subject, names, usages: ['server'] as const, lifetime: day }
  const certificate = await signRequest(ca, request, spec, new Date())
  const pair = { certificate, privateKey: privateKey.revealText() }
  return { certificate: ca.certificate, server: pair, client: pair, otherClient: pair }
}

test('the local member is queried with the current client certificate, over one connection', async () => {
  const etcd = await fakeEtcd(await createServerCertificates(cluster.ca('etcd')), stack, { id: 'a' })
  const endpoint = etcd.servers[0]?.url ?? ''
  const { host, deps } = await cluster.createAgent('cp1', 'control-plane')
  const member = createLocalEtcdReader({ host, plan: watchPlan(host), signal, endpoint })
  const first = await member()
  expect(await first?.client.status(endpoint)).toMatchObject({ id: 'a' })
  expect(etcd.servers[0]?.requests[0]).toMatchObject({ user: 'cp1' })
  expect(await member(), 'one connection is kept').toBe(first)
  await renewLocalCertificates(deps)
  const second = await member()
  expect(second).not.toBe(first)
  expect(await second?.client.status(endpoint)).toMatchObject({ id: 'a' })
  second?.client.close()
})

test('a worker has no local member', async () => {
  const { host } = await cluster.createAgent('w1', 'worker')
  expect(await createLocalEtcdReader({ host, plan: watchPlan(host), signal })()).toBeUndefined()
})
