import { expect, test } from 'vitest'
import { indexLines } from './known-hosts-files.ts'
import { findKnownHost, type KnownHostsLine, parseKnownHosts } from './known-hosts.ts'
import { buildTestKey, hashKnownHostsName } from './testing/host-keys.ts'

const [a, b, c] = [buildTestKey('a'), buildTestKey('b', 'ecdsa-sha2-nistp256'), buildTestKey('c')]

test('a lookup tests as many lines in a file of ten thousand hosts as in a file of ten', () => {
  let tested = 0
  const count = (line: KnownHostsLine): KnownHostsLine => ({
    ...line,
    matches(name) {
      tested++
      return line.matches(name)
    },
  })
  for (const size of [10, 10_000]) {
    const text = Array.from({ length: size }, (_, index) => `w${index},10.0.0.${index} ${a}\n`).join('')
    const find = indexLines(parseKnownHosts(`*.example.com ${b}\n${text}`).map(count))
    tested = 0
    expect(findKnownHost(find('w7'), 'w7').keys).toEqual([a])
    expect(tested).toBe(2)
  }
})

test('an index finds the same keys as all lines, in the same order', () => {
  const hashed = hashKnownHostsName('cp1', Buffer.alloc(20, 7))
  const text = [
    ...[`cp* ${c}`, `CP1,10.0.0.1 ${a}`, `${hashed} ${b}`, `!cp1,* ${a}`, `@revoked * ${c}`, `w1 ${a}`],
  ].join('\n')
  const lines = parseKnownHosts(text)
  const find = indexLines(lines)
  for (const name of ['cp1', '10.0.0.1', 'w1', 'w2'])
    expect(findKnownHost(find(name), name)).toEqual(findKnownHost(lines, name))
})
