import { expect, test } from 'vitest'
import {
  createMalformedRequests,
  malformedSeed,
  sendMalformedRequests,
} from '../kit/testing/malformed-requests.ts'
import { startHealthServer } from './health-server.ts'

const options = {
  checks: (path: string) => (path === 'livez' ? new Map([['ping', () => undefined]]) : undefined),
  metrics: () => 'figures\n',
}
const address = { host: '127.0.0.1', port: 0 }

test('paths and queries select the checks', async () => {
  await using server = await startHealthServer(address, options)
  const get = async (target: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${target}`)
    return [response.status, await response.text()]
  }
  expect(await get('/livez')).toEqual([200, 'ok'])
  expect(await get('/livez/ping?verbose')).toEqual([200, '[+]ping ok\nlivez/ping check passed\n'])
  expect(await get('/metrics?x=1')).toEqual([200, 'figures\n'])
  expect(await get('/livez/other')).toEqual([404, ''])
  expect(await get('/')).toEqual([404, ''])
})

test('an exception while metrics are written results in status 500', async () => {
  const metrics = (): string => {
    throw new Error('no figures')
  }
  await using server = await startHealthServer(address, { ...options, metrics })
  expect((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status).toBe(500)
})

test(`10,000 malformed requests leave the server healthy (seed ${malformedSeed})`, async () => {
  await using server = await startHealthServer(address, options)
  await sendMalformedRequests(server.port, [Buffer.from('GET // HTTP/1.1\r\nHost: a\r\n\r\n')])
  await sendMalformedRequests(server.port, createMalformedRequests(10_000))
  expect((await fetch(`http://127.0.0.1:${server.port}/livez`)).status).toBe(200)
}, 60_000)
