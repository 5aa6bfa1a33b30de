import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import type { ManagedClusterSpec } from './cluster-resource.ts'
import { chooseGeneration, signDocument } from './desired-document.ts'
import {
  decideOffer,
  initialMemberState,
  type MemberState,
  memberStateFormat,
  recordApplied,
  recordOffer,
} from './member-state.ts'
import { buildTestDocument, createTestOperator } from './testing/documents.ts'

const operator = createTestOperator()
const foreign = createTestOperator()
const now = new Date('2026-11-18T08:00:00.000Z')

function pull(state: MemberState, spec: ManagedClusterSpec): MemberState {
  return recordOffer(state, spec, decideOffer(state, spec, operator.trust), now)
}

/** Changes one character of a text. */
function corrupt(text: string, at: number): string {
  const index = at % text.length
  const replacement = text[index] === 'A' ? 'B' : 'A'
  return text.slice(0, index) + replacement + text.slice(index + 1)
}

const offers = fc.record({
  generation: fc.integer({ min: 1, max: 6 }),
  word: fc.constantFrom('a', 'b'),
  permitted: fc.integer({ min: 1, max: 6 }),
  source: fc.constantFrom('operator' as const, 'other key' as const, 'changed' as const),
})

test('any sequence of offers: the accepted generation never falls, and only signed and permitted ones count', () => {
  fc.assert(
    fc.property(fc.array(offers, { maxLength: 20 }), (sequence) => {
      let state = initialMemberState
      for (const { generation, word, permitted, source } of sequence) {
        const signer = source === 'other key' ? foreign : operator
        const valid = signer.offer(generation, word, permitted)
        const spec =
          source === 'changed' && valid.desired !== undefined
            ? { ...valid, desired: { ...valid.desired, document: corrupt(valid.desired.document, 40) } }
            : valid
        const next = pull(state, spec)
        const [before, after] = [state.accepted, next.accepted]
        const isAccepted = after !== before
        const isStale = source === 'operator' && generation < (before?.generation ?? 0)
        expect(after?.generation ?? 0).toBeGreaterThanOrEqual(before?.generation ?? 0)
        expect(isAccepted && after?.generation === before?.generation).toBe(false)
        expect(isAccepted && (source !== 'operator' || after?.generation !== permitted)).toBe(false)
        expect(isStale && next.failed?.code !== 'FLEET_DOCUMENT_STALE').toBe(false)
        expect(readVersioned(memberStateFormat, JSON.parse(JSON.stringify(next)))).toEqual(next)
        state = next
      }
    }),
  )
})

test('every changed byte of a document or its signature is refused', () => {
  const { desired } = operator.offer(1, 'a')
  if (desired === undefined) throw new Error('no document')
  fc.assert(
    fc.property(fc.nat(), fc.boolean(), (at, inDocument) => {
      const changed = inDocument
        ? { ...desired, document: corrupt(desired.document, at) }
        : // The last two characters of the base64 text contain padding.
          { ...desired, signature: corrupt(desired.signature, at % (desired.signature.length - 3)) }
      const decision = decideOffer(
        {},
        { desired: changed, permitted: { generation: 1, rollout: 'r' } },
        operator.trust,
      )
      expect(decision).toMatchObject({ type: 'refuse', error: { code: 'FLEET_DOCUMENT_SIGNATURE' } })
    }),
  )
})

test('a document that the same key signed for another cluster is refused', () => {
  const document = buildTestDocument('0b0e7c0e-5a0e-4c55-8f0e-6a1d6a0e7c11', 1, 'a')
  const desired = { generation: 1, ...signDocument(document, operator.privateKey) }
  const { accepted, failed } = pull(initialMemberState, { desired })
  expect(accepted).toBeUndefined()
  expect(failed?.code).toBe('FLEET_DOCUMENT_OTHER_CLUSTER')
})

test('the number in the Cluster object must be the signed one', () => {
  const { desired } = operator.offer(3, 'a')
  if (desired === undefined) throw new Error('no document')
  const permitted = { generation: 9, rollout: 'r' }
  const state = pull(initialMemberState, { desired: { ...desired, generation: 9 }, permitted })
  expect(state.failed).toMatchObject({ generation: 9, code: 'FLEET_DOCUMENT_CONFLICT' })
})

test('a refusal is forgotten when the accepted document is offered again', () => {
  const accepted = pull(initialMemberState, operator.offer(5, 'a'))
  const refused = pull(accepted, operator.offer(4, 'a'))
  expect(refused.failed?.code).toBe('FLEET_DOCUMENT_STALE')
  expect(pull(refused, operator.offer(4, 'a'))).toBe(refused)
  expect(pull(refused, operator.offer(5, 'a')).failed).toBeUndefined()
})

test.each(['"', 'ä', '\\n'])(
  'a document of many %j that can be signed fits into a ConfigMap',
  (character) => {
    // Finds the longest text that can be signed.
    let [fits, fails] = [0, 2_000_000]
    const sign = (length: number) =>
      signDocument(
        buildTestDocument(operator.trust.cluster, 1, character.repeat(length)),
        operator.privateKey,
      )
    while (fails - fits > 1) {
      const length = Math.floor((fits + fails) / 2)
      try {
        sign(length)
        fits = length
      } catch {
        fails = length
      }
    }
    const spec = { desired: { generation: 1, ...sign(fits) }, permitted: { generation: 1, rollout: 'r' } }
    const state = pull(initialMemberState, spec)
    expect(state.accepted?.generation).toBe(1)
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(2 ** 20)
  },
)

test('addons of a document that was never applied completely are still owned', () => {
  const first = pull(initialMemberState, operator.offer(5, 'a'))
  const document = { ...buildTestDocument(operator.trust.cluster, 6, 'b'), addons: [] }
  const spec: ManagedClusterSpec = {
    desired: { generation: 6, ...signDocument(document, operator.privateKey) },
    permitted: { generation: 6, rollout: 'r' },
  }
  const second = pull(first, spec)
  expect(second.ownedAddons).toEqual(['hello'])
  expect(recordApplied(second, document, now)).toMatchObject({
    applied: { generation: 6 },
    ownedAddons: [],
    events: [{ type: 'applied' }, { type: 'accepted' }, { type: 'accepted' }],
  })
})

test('the next number is higher than all known ones, and than those that were lost', () => {
  expect(chooseGeneration([undefined], now)).toBe(Math.floor(now.getTime() / 1000))
  const seconds = Math.floor(now.getTime() / 1000)
  expect(chooseGeneration([seconds + 3600, 2], now)).toBe(seconds + 3601)
})

test('a number of the management plane that is far ahead of the time is not signed', () => {
  for (const known of [Number.MAX_SAFE_INTEGER - 1, Math.floor(now.getTime() / 1000) + 90_000])
    expect(() => chooseGeneration([undefined, known], now)).toThrow(
      expect.objectContaining({ code: 'FLEET_GENERATION_AHEAD' }),
    )
})
