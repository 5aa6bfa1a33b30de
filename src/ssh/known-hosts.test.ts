import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, domain, integer, ipV4, ipV6, oneof, property, tuple, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'
import { findKnownHost, parseKnownHosts } from './known-hosts.ts'
import { buildTestKey, hashKnownHostsName } from './testing/host-keys.ts'

const [a, b, c] = [buildTestKey('a'), buildTestKey('b', 'ecdsa-sha2-nistp256'), buildTestKey('c')]

function find(text: string, name: string): ReturnType<typeof findKnownHost> {
  return findKnownHost(parseKnownHosts(text), name)
}

test('names, name lists, comments and white space are parsed', () => {
  const text = `# a comment\n\n  cp1,10.0.0.1\t${a}  root@cp1\r\ncp1 ${b}\nw1 ${c}\n`
  expect(find(text, 'cp1')).toEqual({ keys: [a, b], cas: [], revoked: [] })
  expect(find(text, '10.0.0.1').keys).toEqual([a])
  expect(find(text, 'w1').keys).toEqual([c])
  expect(find(text, 'w2').keys).toEqual([])
})

test('an entry with a port matches only that port', () => {
  const text = `[cp1]:2222 ${a}\ncp1 ${b}\n[fd00::1]:2222 ${c}`
  expect(find(text, '[cp1]:2222').keys).toEqual([a])
  expect(find(text, 'cp1').keys).toEqual([b])
  expect(find(text, '[fd00::1]:2222').keys).toEqual([c])
  expect(find(text, '[cp1]:2223').keys).toEqual([])
})

test.each([
  ['*.example.com', 'cp1.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.Example.com', 'cp1.example.com', true],
  ['cp?', 'cp1', true],
  ['cp?', 'cp12', false],
  ['*.example.com,!cp1.example.com', 'cp1.example.com', false],
  ['!cp1.example.com,*.example.com', 'cp2.example.com', true],
  ['!cp1', 'cp2', false],
  ['cp1.example.com', 'cp1xexample.com', false],
  ['[*]:2222', '[cp1]:2222', true],
  ['*', '[cp1]:2222', true],
])('pattern %s matches %s: %s', (pattern, name, isKnown) => {
  expect(find(`${pattern} ${a}`, name).keys.length > 0).toBe(isKnown)
})

test('a key marked @cert-authority is a CA, and a key marked @revoked is only revoked', () => {
  const text = `@cert-authority *.example.com ${a}\n@revoked * ${b}\ncp1.example.com ${b}\ncp1.example.com ${c}`
  expect(find(text, 'cp1.example.com')).toEqual({ keys: [c], cas: [a], revoked: [b] })
  expect(find(`@cert-authority * ${a}\n@revoked * ${a}`, 'cp1')).toEqual({ keys: [], cas: [], revoked: [a] })
})

test.each([
  '@unknown cp1 KEY',
  'cp1',
  'cp1 ssh-ed25519',
  'cp1 ssh-ed25519 AAAA',
  `cp1 ssh-rsa ${a.split(' ')[1]}`,
  `#cp1 ${a}`,
  `|1|c2FsdA==|c2FsdA== ${a}`,
  `|2|c2FsdA==|aGFzaA== ${a}`,
  `|1| ${a}`,
])('the line %s gives no key for cp1', (line) => {
  expect(find(line.replace('KEY', a), 'cp1')).toEqual({ keys: [], cas: [], revoked: [] })
})

test('a hashed entry matches only its own name (seed 20261117)', () => {
  const name = oneof(
    domain(),
    ipV4(),
    tuple(oneof(ipV4(), ipV6()), integer({ min: 1, max: 65_535 })).map(([ip, port]) => `[${ip}]:${port}`),
  )
  const salt = uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes))
  assert(
    property(name, name, salt, (listed, other, bytes) => {
      const [listedName, otherName] = [listed.toLowerCase(), other.toLowerCase()]
      const text = `${hashKnownHostsName(listedName, bytes)} ${a}`
      expect(find(text, listedName).keys).toEqual([a])
      expect(find(text, otherName).keys).toEqual(otherName === listedName ? [a] : [])
    }),
    { seed: 20_261_117 },
  )
})

test('a file hashed by ssh-keygen -H is read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'known-hosts-'))
  try {
    const file = join(directory, 'known_hosts')
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
    writeFileSync(file, `cp1.example.com ${key}\n[10.0.0.1]:2222 ${key}\n`)
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('example.com')
    const names = ['cp1.example.com', '[10.0.0.1]:2222', '10.0.0.1']
    expect(names.map((name) => find(text, name).keys)).toEqual([[key], [key], []])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
