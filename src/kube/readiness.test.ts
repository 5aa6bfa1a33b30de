import { beforeAll, expect, test } from 'vitest'
import { readPodLogs } from './testing/pod-logs.ts'
import { checkReadiness, getServerVersion, toServedVersion } from './readiness.ts'
import { type TestCa, createTestCa } from '../kit/testing/test-ca.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

let ca: TestCa
const { serveResponses, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

test('a server whose /readyz responds with 200 is ready', async () => {
  const server = await serveResponses({ status: 200, text: '[+]ping ok\nreadyz check passed\n' })
  expect(await checkReadiness(createClient([]), server.url)).toEqual({ ready: true })
  expect(server.requests).toMatchObject([{ method: 'GET', path: '/readyz' }])
})

test('a server that is not ready reports its failed checks', async () => {
  const lines = [
    '[+]ping ok',
    '[-]etcd failed: reason withheld',
    '[-]poststarthook/rbac/bootstrap-roles failed: x',
  ]
  const server = await serveResponses({ status: 500, text: `${lines.join('\n')}\nreadyz check failed\n` })
  expect(await checkReadiness(createClient([server.url]), server.url)).toEqual({
    ready: false,
    failing: ['etcd', 'poststarthook/rbac/bootstrap-roles'],
    reason: 'fails etcd, poststarthook/rbac/bootstrap-roles',
  })
  expect(server.requests).toHaveLength(1)
})

test('of many failed checks, the reason names two and counts the others', async () => {
  const lines = ['a', 'b', 'c', 'd'].map((name) => `[-]poststarthook/${name} failed: reason withheld`)
  const server = await serveResponses({ status: 500, text: `${lines.join('\n')}\nreadyz check failed\n` })
  expect(await checkReadiness(createClient([server.url]), server.url)).toMatchObject({
    reason: 'fails poststarthook/a, poststarthook/b and 2 more',
  })
})

test('a server that does not respond is not ready, and gets one request', async () => {
  const server = await serveResponses({ cut: 'before' })
  expect(await checkReadiness(createClient([server.url]), server.url)).toMatchObject({
    ready: false,
    failing: [],
  })
  expect(server.requests).toHaveLength(1)
})

test('an abort fails the check with the reason of the signal', async () => {
  const server = await serveResponses({ silent: true })
  const reason = new Error('enough')
  await expect(
    checkReadiness(createClient([server.url]), server.url, { signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason)
})

test('the version of the server is read', async () => {
  const server = await serveResponses({
    json: { gitVersion: 'v1.37.1', major: '1', minor: '37', platform: 'x' },
  })
  expect(await getServerVersion(createClient([server.url]))).toMatchObject({
    gitVersion: 'v1.37.1',
    minor: '37',
  })
})

test('a server that emulates a minor counts with that minor', () => {
  const version = { gitVersion: 'v1.37.1', major: '1', minor: '37' }
  const emulating = (emulationMinor: string) => ({ ...version, emulationMajor: '1', emulationMinor })
  expect(toServedVersion(version)).toBe('1.37.1')
  expect(toServedVersion(emulating('37'))).toBe('1.37.1')
  expect(toServedVersion(emulating('36'))).toBe('1.36')
})

test('pod logs are returned as text', async () => {
  const server = await serveResponses({ status: 200, text: 'one\ntwo\n' })
  const logs = await readPodLogs(
    createClient([server.url]),
    { namespace: 'n', name: 'p' },
    { lines: 2, previous: true },
  )
  expect(logs).toBe('one\ntwo\n')
  expect(server.requests[0]?.path).toBe('/api/v1/namespaces/n/pods/p/log')
  expect(server.requests[0]?.query.toString()).toBe('previous=true&tailLines=2')
})
