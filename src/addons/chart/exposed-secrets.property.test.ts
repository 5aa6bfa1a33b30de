import { assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { findExposedSecrets, redactSecrets } from './exposed-secrets.ts'

const metadata = { name: 'a', namespace: 'shop' }
const value = string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 30 })
const write = constantFrom<(text: string) => string>(
  (text) => text,
  (text) => Buffer.from(text).toString('base64'),
  (text) => `postgres://shop:${encodeURIComponent(text)}@db/shop`,
  (text) => JSON.stringify({ password: text }),
)

test('a secret value is found in any object, in every form that charts write', () => {
  const isFound = (secret: string, format: (text: string) => string): boolean => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { deep: { list: [format(secret)] } } }
    const labelled = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, annotations: { note: format(secret) } },
      data: {},
    }
    return [map, labelled].every((manifest) => findExposedSecrets([manifest], [secret]).length === 1)
  }
  expect(() => assert(property(value, write, isFound))).not.toThrow()
})

test('the data of a Secret may contain its values', () => {
  const isAllowed = (secret: string, format: (text: string) => string): boolean => {
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: { password: Buffer.from(secret).toString('base64') },
      stringData: { url: format(secret) },
    }
    return findExposedSecrets([manifest], [`x${secret}x`, secret.repeat(2)]).length === 0
  }
  const long = string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 30 })
  expect(() => assert(property(long, write, isAllowed))).not.toThrow()
})

test('a redacted text contains no form of a secret value', () => {
  const isRedacted = (secret: string, format: (text: string) => string, before: string): boolean => {
    const text = redactSecrets(`${before}${format(secret)} failed`, [secret])
    return !text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64'))
  }
  const unrelated = string({ maxLength: 5 })
  const secret = value.filter((text) => !'[secret] failed'.includes(text))
  expect(() => assert(property(secret, write, unrelated, isRedacted))).not.toThrow()
})

test('a short value is found only as a whole text, and an empty value never', () => {
  const map = (text: unknown) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } })
  expect(findExposedSecrets([map('example')], ['e'])).toEqual([])
  expect(findExposedSecrets([map('4711')], ['4711'])).toEqual(['ConfigMap shop/a'])
  expect(findExposedSecrets([map(4711)], ['4711'])).toEqual(['ConfigMap shop/a'])
  expect(findExposedSecrets([map('')], [''])).toEqual([])
  expect(redactSecrets('text', [''])).toBe('text')
})
