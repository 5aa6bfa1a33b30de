import { isDeepStrictEqual } from 'node:util'
import { array, assert, asyncProperty, constantFrom, pre, subarray } from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { requestingNode, checkServingRequest } from './check-serving-request.ts'
import {
  validServingRequest,
  mutations,
  type FakeName,
  type FakeServingRequest,
  createRequestBuilder,
  applyMutations,
} from './testing/fake-serving-requests.ts'
import { loadX509, type X509 } from './x509.ts'

const planned = { dns: ['w1', 'w1.example.org'], ip: ['192.168.1.21', 'fd00::21'] }

let x509: X509
let buildRequest: Awaited<ReturnType<typeof createRequestBuilder>>
beforeAll(async () => {
  x509 = await loadX509()
  buildRequest = await createRequestBuilder()
})

const goodNames: readonly FakeName[] = [
  { type: 'dns', value: 'w1' },
  { type: 'dns', value: 'W1.Example.ORG' },
  { type: 'ip', value: '192.168.1.21' },
  { type: 'ip', value: 'fd00:0:0::21' },
]

test('a node gets a certificate for itself with planned names', async () => {
  await assert(
    asyncProperty(subarray([...goodNames], { minLength: 1 }), async (some) => {
      expect(
        checkServingRequest(x509, await buildRequest({ ...validServingRequest, names: some }), planned),
      ).toEqual({
        verdict: 'granted',
      })
    }),
  )
})

test('a request with one or more forbidden mutations is always refused', { timeout: 240_000 }, async () => {
  const rogue = array(constantFrom(...Object.keys(mutations)), { minLength: 1, maxLength: 4 })
  await assert(
    asyncProperty(rogue, subarray([...goodNames], { minLength: 1 }), async (mutationNames, some) => {
      const begin: FakeServingRequest = { ...validServingRequest, names: some }
      const fake = applyMutations(begin, mutationNames)
      // Two mutations may cancel each other out, which leaves a valid request.
      pre(!isDeepStrictEqual(fake, begin))
      const request = await buildRequest(fake)
      const names = requestingNode(request) === 'w1' ? planned : { dns: ['w2'], ip: ['192.168.1.22'] }
      expect(checkServingRequest(x509, request, names).verdict).toBe('refused')
    }),
    { numRuns: Math.max(1000, Number(process.env['PROPERTY_RUNS'] ?? 0)) },
  )
})

test.each(Object.keys(mutations))('a request with only the mutation "%s" is refused', async (mutation) => {
  const fake = mutations[mutation]?.(validServingRequest) ?? validServingRequest
  expect(checkServingRequest(x509, await buildRequest(fake), planned)).toMatchObject({ verdict: 'refused' })
})

test('a host without planned names gets no certificate', async () => {
  expect(
    checkServingRequest(x509, await buildRequest(validServingRequest), { dns: [], ip: [] }),
  ).toMatchObject({ verdict: 'refused' })
})
