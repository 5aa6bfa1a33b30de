import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { urlUnreachableError } from './http-fetch.ts'
import { addProxyLogin, type HttpRoute, selectProxy } from './http-route.ts'
import { createRoutedFetch } from './routed-fetch.ts'
import { startLoginProxy } from './testing/login-proxy.ts'
import { startPrivateServer } from './testing/private-server.ts'
import { createTestCa } from './testing/test-ca.ts'

const { signal } = new AbortController()
const ca = await createTestCa()
const password = 'p@ss:w/rd%25 ü'

async function readError(url: string, route: HttpRoute): Promise<unknown> {
  return createRoutedFetch(route)(url, { signal }).then(
    async (response) => void (await response.text()),
    (error: unknown) => urlUnreachableError(url, error),
  )
}

test('an https request passes a proxy with a login, and the private CA is verified', async () => {
  await using server = await startPrivateServer(ca, (request, response) => {
    void text(request).then((body) => response.writeHead(201).end(`${request.method} ${body}`))
  })
  await using proxy = await startLoginProxy('me', password)
  const { namedUrl: url, host } = server
  const https = addProxyLogin(proxy.url, { username: 'me', password })
  const route = { proxy: { https, no: [] }, servers: [{ host, ca: ca.certificate }] }
  const response = await createRoutedFetch(route)(url, { method: 'PUT', body: 'content', signal })
  expect([response.status, await response.text()]).toEqual([201, 'PUT content'])
  expect(proxy.targets).toEqual([host])
  expect(await readError(url, { ...route, servers: [] })).toMatchObject({ code: 'FETCH_CA_UNKNOWN' })
  const other = [{ host: 'other.example', ca: ca.certificate }]
  expect(await readError(url, { ...route, servers: other })).toMatchObject({ code: 'FETCH_CA_UNKNOWN' })
  expect(await readError(url, { ...route, servers: [], ca: ca.certificate })).toBeUndefined()
  const unverified = [{ host, skipVerify: true }]
  expect(await readError(url, { ...route, servers: unverified })).toBeUndefined()
})

test('a wrong login is reported without the password', async () => {
  await using proxy = await startLoginProxy('me', password)
  const https = addProxyLogin(proxy.url, { username: 'me', password: 'another-password' })
  const error = await readError('https://site.example/file', { proxy: { https, no: [] } })
  expect(error).toMatchObject({ code: 'PROXY_LOGIN_REFUSED' })
  expect(String(error)).not.toContain('another-password')
  expect(proxy.refused()).toBe(1)
})

test('a target in the list of exceptions is reached directly, and so is loopback', async () => {
  await using server = await startPrivateServer(ca, (_, response) => response.writeHead(204).end())
  await using proxy = await startLoginProxy('me', password)
  const servers = [{ host: new URL(server.url).host, ca: ca.certificate }]
  const route = { proxy: { https: proxy.url, no: ['.invalid'] }, servers }
  const response = await createRoutedFetch(route)(server.url, { signal })
  expect(response.status).toBe(204)
  expect(selectProxy(route, 'https://no.invalid/')).toBeUndefined()
  expect(selectProxy(route, 'https://yes.example/')).toBe(proxy.url)
  expect([proxy.targets, proxy.refused()]).toEqual([[], 0])
})
