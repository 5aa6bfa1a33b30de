import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { mergeKubeconfig } from './merge-kubeconfig.ts'

function buildConfig(name: string, server: string, ca: string, key = 'key'): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: `${name}-me`, user: { 'client-key-data': key } }],
    contexts: [{ name, context: { cluster: name, user: `${name}-me` } }],
    'current-context': name,
  })
}

const shop = buildConfig('shop', 'https://10.0.0.1:6443', 'ca1')
const other = `# keep this comment\n${buildConfig('other', 'https://10.9.0.1:6443', 'ca9')}preferences: { colors: true }\n`

test('an empty or missing file becomes the new kubeconfig', () => {
  const { text, added, currentContext } = mergeKubeconfig('', shop)
  expect(parse(text)).toEqual(parse(shop))
  expect({ added, currentContext }).toEqual({ added: ['shop'], currentContext: 'shop' })
})

test('all other entries, comments and the current context stay', () => {
  const { text, added, updated, currentContext } = mergeKubeconfig(other, shop)
  expect(text).toContain('# keep this comment')
  const merged: unknown = parse(text)
  expect(merged).toMatchObject({
    'current-context': 'other',
    preferences: { colors: true },
    clusters: [{ name: 'other' }, { name: 'shop' }],
    users: [{ name: 'other-me' }, { name: 'shop-me' }],
    contexts: [{ name: 'other' }, { name: 'shop' }],
  })
  expect({ added, updated, currentContext }).toEqual({
    added: ['shop'],
    updated: [],
    currentContext: 'other',
  })
})

test('a second merge replaces the credentials, also after a CA rotation', () => {
  const first = mergeKubeconfig(other, shop).text
  const renewed = buildConfig('shop', 'https://10.0.0.1:6443', 'ca2', 'new key')
  const { text, updated } = mergeKubeconfig(first, renewed)
  expect(updated).toEqual(['shop'])
  expect(parse(text)).toMatchObject({
    clusters: [{ name: 'other' }, { cluster: { 'certificate-authority-data': 'ca2' } }],
    users: [{ name: 'other-me' }, { user: { 'client-key-data': 'new key' } }],
  })
  expect(mergeKubeconfig(text, renewed).text).toBe(text)
})

test('another cluster of the same name is refused', () => {
  const twin = buildConfig('shop', 'https://10.5.0.1:6443', 'ca5')
  expect(() => mergeKubeconfig(twin, shop)).toThrow('which is another cluster')
})

test.each(['clusters: 5', 'a: [', '- list'])('%s is not a kubeconfig', (text) => {
  expect(() => mergeKubeconfig(text, shop)).toThrow('not a valid kubeconfig')
})
