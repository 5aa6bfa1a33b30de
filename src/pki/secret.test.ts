import { assert, property, uint8Array } from 'fast-check'
import { format, inspect } from 'node:util'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { makeKeyPair } from './keys.ts'
import { Secret } from './secret.ts'

const printed = '[secret token sha256:b9f1…]'

test('a Secret is printed as its name and the start of its digest', () => {
  const secret = new Secret('token', 'swordfish')
  expect([
    String(secret),
    ['', secret].join(''),
    JSON.parse(JSON.stringify({ secret })).secret,
    inspect(secret),
    format('%s', secret),
    format('%o', secret),
    new HyperkubeError('X', `no ${String(secret)}`).message.slice(3),
  ]).toEqual(Array.from({ length: 7 }, () => printed))
})

test('inspecting hidden properties does not reveal a Secret', async () => {
  const { privateKey } = await makeKeyPair('key')
  const body = privateKey.revealText().split('\n')[1] ?? ''
  const outputs = [
    inspect({ deep: [privateKey] }, { showHidden: true, depth: null, customInspect: false, showProxy: true }),
    JSON.stringify(Object.assign({}, privateKey)),
    JSON.stringify(structuredClone(privateKey)),
    inspect(new HyperkubeError('X', 'failed', { cause: privateKey }), { depth: null }),
  ]
  expect(body.length).toBeGreaterThan(40)
  for (const output of outputs) expect(output).not.toContain(body)
})

test('reveal returns a copy of the original bytes', () => {
  assert(
    property(uint8Array(), (bytes) => {
      const given = Uint8Array.from(bytes)
      const secret = new Secret('x', given)
      given.fill(0)
      secret.reveal().fill(0)
      expect(secret.reveal()).toEqual(Uint8Array.from(bytes))
    }),
  )
})
